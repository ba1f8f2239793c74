import { spawnSync } from 'node:child_process'

/** Runs a program and returns its stdout. Throws with its stderr if it fails. */
export function run(command: readonly string[], cwd: string): string {
  const [file = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (error) throw new Error(`${file}: cannot be started (${error.message})`)
  if (status !== 0) throw new Error(`${command.join(' ')}: failed\n${stderr.trim()}`)
  return stdout
}
