/**
 * Credentials that are not in the environment come through the SDK's chain, which reads the real
 * environment: each case runs in a process of its own.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "dreamdb-chain-"));
const credentialsFile = join(folder, "credentials");
const configFile = join(folder, "config");

function writeKey(accessKeyId: string): string {
  return `[default]\naws_access_key_id=${accessKeyId}\naws_secret_access_key=s\n` +
    `[work]\naws_access_key_id=WORK\naws_secret_access_key=s\naws_session_token=t\n`;
}

let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  writeFileSync(credentialsFile, writeKey("FIRST"));
  writeFileSync(configFile, "[default]\nregion=eu-north-1\n[profile work]\nregion=eu-south-2\n");
  // The endpoint from which a container gets its role's credentials.
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      Response.json({
        AccessKeyId: "ROLE",
        SecretAccessKey: "s",
        Token: "role-token",
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      }),
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** What the source says in a process with this environment; `script` sees it as `source`. */
async function ask(
  environment: Readonly<Record<string, string>>,
  script: string,
  source = "credentialSource(process.env, true)",
): Promise<unknown> {
  const module = join(import.meta.dir, "../../src/store/s3-credentials.ts");
  const program = `
    import { writeFileSync } from "node:fs";
    import { credentialSource } from ${JSON.stringify(module)};
    const source = ${source};
    const say = async () => (await source.credentials())?.accessKeyId ?? "anonymous";
    console.log(JSON.stringify(await (async () => { ${script} })()));
  `;
  const child = spawn(process.execPath, ["-e", program], {
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"),
      AWS_CONFIG_FILE: join(folder, "none"),
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  await new Promise((resolve) => child.on("close", resolve));
  return JSON.parse(output);
}

const files = () => ({
  AWS_SHARED_CREDENTIALS_FILE: credentialsFile,
  AWS_CONFIG_FILE: configFile,
});
const pair = { AWS_ACCESS_KEY_ID: "ENVIRONMENT", AWS_SECRET_ACCESS_KEY: "s" };

describe("credentials", () => {
  const both = "return [await say(), await source.region()];";
  const rows: readonly (readonly [string, () => Record<string, string>, unknown, string?])[] = [
    ["from the environment", () => ({ ...pair, AWS_REGION: "eu-west-1" }), [
      "ENVIRONMENT",
      "eu-west-1",
    ]],
    ["from the environment before the files", () => ({ ...files(), ...pair }), [
      "ENVIRONMENT",
      null,
    ]],
    ["from the shared files", files, ["FIRST", "eu-north-1"]],
    ["from the profile that the environment names", () => ({ ...files(), AWS_PROFILE: "work" }), [
      "WORK",
      "eu-south-2",
    ]],
    [
      "from the profile that is asked for, before the environment",
      () => ({ ...files(), ...pair }),
      ["WORK", "eu-south-2"],
      'credentialSource(process.env, true, "work")',
    ],
    ["from a container's role", () => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${server.port}/role`,
    }), ["ROLE", null]],
    ["from nowhere: anonymous", () => ({}), ["anonymous", null]],
    [
      "not from the files of a user when the store is a stranger's and nothing points to them",
      () => ({ AWS_REGION: "auto" }),
      ["anonymous", "auto"],
      "credentialSource(process.env, false)",
    ],
    [
      "from the files for a store that is not at AWS when the environment points to them",
      files,
      ["FIRST", "eu-north-1"],
      "credentialSource(process.env, false)",
    ],
  ];
  for (const [name, environment, expected, source] of rows) {
    test(name, async () => {
      const found = await ask(environment(), both, source);
      expect(found).toEqual(expected);
    });
  }

  test("are read again from a file that was replaced, once the store refuses them", async () => {
    const script = `
      const first = await say();
      writeFileSync(process.env.AWS_SHARED_CREDENTIALS_FILE, ${JSON.stringify(writeKey("SECOND"))});
      const kept = await say();
      return [first, kept, source.renew(), await say()];
    `;
    writeFileSync(credentialsFile, writeKey("FIRST"));
    expect(await ask(files(), script)).toEqual(["FIRST", "FIRST", true, "SECOND"]);
    writeFileSync(credentialsFile, writeKey("FIRST"));
  });

  test("that a profile promises and does not have are a matter of permission", async () => {
    const script = "return await source.credentials().then(() => 'found', (error) => error.code);";
    expect(await ask(files(), script, 'credentialSource(process.env, true, "nobody")')).toBe(
      "permission-denied",
    );
    expect(await ask({ ...files(), AWS_PROFILE: "nobody" }, script)).toBe("permission-denied");
  });
});
