import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { commitAll } from '../git/temporary-folder.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command line in this process. */
export function run(cwd: string, ...argv: string[]): Promise<Ran> {
  return runWith(undefined, cwd, ...argv)
}

/** The same with these variables and no others. */
export async function runWith(env: Record<string, string> | undefined, cwd: string, ...argv: string[]): Promise<Ran> {
  const out = { stdout: '', stderr: '' }
  const io = {
    stdout: (text: string) => {
      out.stdout += text
    },
    stderr: (text: string) => {
      out.stderr += text
    },
    stdin: Readable.from([]),
    cwd,
    ...(env ? { env } : {}),
  }
  return { code: await main(argv, io), ...out }
}

/** An empty directory outside of every repository; it is removed when the test ends. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-cli-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** Writes files below a directory. */
export function write(directory: string, files: Record<string, string>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  return directory
}

export function git(directory: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8', stdio: 'pipe' })
}

/** A working copy on branch main with one commit of these files. */
export function repository(directory: string, files: Record<string, string>, url?: string): string {
  return commitAll(write(directory, files), url)
}
