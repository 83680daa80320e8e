// Packs a folder into a reproducible .tar.gz: the same files always give the same bytes, whatever their times, owners and modes.
//
//   node scripts/pack.mjs FOLDER ARCHIVE
//
// The archive holds what is inside FOLDER, not FOLDER itself. GNU tar is needed.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [folder, archive] = process.argv.slice(2);
if (folder === undefined || archive === undefined) {
  console.error("usage: node scripts/pack.mjs FOLDER ARCHIVE");
  process.exit(2);
}
const tar = spawnSync("tar", [
  "--format=gnu",
  "--sort=name",
  "--mtime=@0",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--mode=u=rwX,go=rX",
  "--directory",
  folder,
  "--create",
  ".",
], { maxBuffer: 1 << 30 });
if (tar.status !== 0) {
  console.error(String(tar.stderr) || `tar could not be run: ${tar.error?.message}`);
  process.exit(1);
}
const packed = gzipSync(tar.stdout, { level: 9 });
writeFileSync(archive, packed);
console.log(`${archive}: ${tar.stdout.length} bytes packed into ${packed.length}`);
