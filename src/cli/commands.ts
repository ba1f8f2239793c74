import type { Command } from './command.ts'

/** Each is read when it is asked for: what the others need takes longer to read than most commands take to run. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['check', async () => (await import('./check.ts')).check],
  ['render', async () => (await import('./render.ts')).render],
  ['build', async () => (await import('./build.ts')).build],
  ['baseline', async () => (await import('./baseline.ts')).baseline],
  ['can-i', async () => (await import('./can-i.ts')).canI],
  ['access', async () => (await import('./access.ts')).access],
  ['audit', async () => (await import('./audit.ts')).audit],
  ['onboard', async () => (await import('./onboard.ts')).onboard],
])

/** Every command, in the order of the help. */
export function allCommands(): Promise<readonly Command[]> {
  return Promise.all([...COMMANDS.values()].map(load => load()))
}

/** The command that is called so; undefined for none. */
export async function commandNamed(name: string): Promise<Command | undefined> {
  return COMMANDS.get(name)?.()
}
