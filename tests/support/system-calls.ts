import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

/** Arguments of strace that make it write what `readSystemCalls` reads. */
export const straceArguments: readonly string[] = [
  ...["-f", "-y", "-s", "4096"],
  ...["-e", "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2,flock,close"],
];

/** Why system calls cannot be watched on this machine, or undefined when they can. */
export const straceMissing: string | undefined = findMissing();

/** One system call that succeeded. */
export interface SystemCall {
  readonly name: string;
  readonly process: string;
  /** The file descriptor's and the named paths, in the order of the arguments. */
  readonly paths: readonly string[];
  /** The arguments as strace shows them. */
  readonly text: string;
  /** Numbers of the lines at which it began and ended; they order calls of all threads. */
  readonly began: number;
  readonly ended: number;
}

/** Reads what `strace -f -y` wrote; calls that failed are left out. */
export function readSystemCalls(trace: string): readonly SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { readonly text: string; readonly began: number }>();
  trace.split("\n").forEach((line, index) => {
    const [, process = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const cut = /^(.*) <unfinished \.\.\.>$/.exec(rest);
    if (cut !== null) {
      unfinished.set(process, { text: cut[1] ?? "", began: index });
      return;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const begun = resumed === null ? undefined : unfinished.get(process);
    const whole = begun === undefined ? rest : begun.text + resumed?.[1];
    const [, name, text, result] = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(whole) ?? [];
    if (name === undefined || text === undefined || Number(result) < 0) return;
    const paths = [...text.matchAll(/\d+<([^<>]*)>|"([^"]*)"/g)]
      .map((match) => match[1] ?? match[2] ?? "");
    calls.push({ name, process, paths, text, began: begun?.began ?? index, ended: index });
  });
  return calls;
}

/** What a publish is held against. */
export interface Publish {
  /** Files that the run added to the store, but for locks: absolute paths. */
  readonly added: readonly string[];
  /** The ref that moved, and the lock that guards it: absolute paths. */
  readonly ref: string;
  readonly lock: string;
}

/**
 * What is wrong with the order of a publish; [] when it is durable: each object appears whole and is
 * synced, under its temporary name or its own, then its folder, all of this before the ref is
 * renamed; the ref synced before and its folder after; the lock held in between.
 */
export function publishFaults(calls: readonly SystemCall[], publish: Publish): readonly string[] {
  const faults: string[] = [];
  const moved = calls.find((call) =>
    call.name.startsWith("rename") && call.paths.at(-1) === publish.ref
  );
  if (moved === undefined) return [`${publish.ref} was not renamed into place`];
  const isSynced = (path: string, after: number, before: number) =>
    calls.some((call) =>
      /^f(data)?sync$/.test(call.name) && call.paths[0] === path && call.began > after &&
      call.ended < before
    );

  for (const path of publish.added) {
    const placed = calls.find((call) =>
      /^(link|rename)/.test(call.name) && call.paths.at(-1) === path
    );
    if (placed === undefined) faults.push(`${path} was written in place`);
    else {
      const before = isSynced(placed.paths.at(-2) ?? "", -1, placed.began);
      if (!before && !isSynced(path, placed.ended, moved.began)) {
        faults.push(`${path} was not synced before the ref moved`);
      }
      if (!isSynced(dirname(path), placed.ended, moved.began)) {
        faults.push(`the folder of ${path} was not synced before the ref moved`);
      }
    }
  }

  if (!isSynced(moved.paths.at(-2) ?? "", -1, moved.began)) {
    faults.push("the ref was not synced before it got its name");
  }
  const ofLock = calls.filter((call) => call.paths[0] === publish.lock);
  const locked = ofLock.find((call) =>
    call.name === "flock" && call.text.includes("LOCK_EX") && call.ended < moved.began
  );
  const released = ofLock.find((call) =>
    (call.name === "close" || call.text.includes("LOCK_UN")) &&
    call.began > (locked?.ended ?? -1)
  );
  if (locked === undefined) faults.push("the lock was not held when the ref moved");
  else if (released !== undefined && released.began < moved.ended) {
    faults.push("the lock was released before the ref had moved");
  }
  if (!isSynced(dirname(publish.ref), moved.ended, Infinity)) {
    faults.push("the folder of the ref was not synced after it moved");
  }
  return faults;
}

function findMissing(): string | undefined {
  if (process.platform !== "linux") return "system calls are watched with strace, on Linux only";
  const { error, status, stderr } = spawnSync("strace", ["-o", "/dev/null", "true"], {
    encoding: "utf8",
  });
  if (error !== undefined) return "strace was not found (on Debian: apt-get install strace)";
  return status === 0 ? undefined : `strace cannot watch a process here: ${stderr.trim()}`;
}
