import { Readable } from 'node:stream'
import { main } from '../../../src/surface/cli/main.ts'
import { commitAll, writeFiles } from '../../base/git/temporary-folder.ts'

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

export { git, temporaryFolder as scratch, writeFiles as write } from '../../base/git/temporary-folder.ts'

/** A working copy on branch main with one commit of these files. */
export function repository(directory: string, files: Record<string, string>, url?: string): string {
  return commitAll(writeFiles(directory, files), url)
}
