import type { Command } from '../command.ts'
import type { Roots } from './open-roots.ts'

/** Runs a CLI command and captures its output; `notes` is its stderr. Throws what the command throws. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  { first }: Roots,
): Promise<{ readonly stdout: string; readonly notes: readonly string[] }> {
  let [stdout, stderr] = ['', '']
  await command.run(args, {
    stdout(text) {
      stdout += text
    },
    stderr(text) {
      stderr += text
    },
    stdin: (async function* () {})(),
    cwd: first,
  })
  return { stdout, notes: stderr.split('\n').filter(line => line !== '') }
}
