import { spawnSync } from 'node:child_process'

/** What a program printed. Throws with its complaint when it fails. */
export function run(command: readonly string[], cwd: string): string {
  const [file = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (error) throw new Error(`${file}: cannot be started (${error.message})`)
  if (status !== 0) throw new Error(`${command.join(' ')}: failed\n${stderr.trim()}`)
  return stdout
}
