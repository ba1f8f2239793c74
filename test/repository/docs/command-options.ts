import { commandNamed } from '../../../src/surface/cli/commands.ts'
import { termsOf } from '../../../src/surface/cli/usage.ts'

/** The options that a command takes. */
export async function commandOptions(name: string): Promise<ReadonlySet<string>> {
  const found = await commandNamed(name)
  const terms = found ? termsOf(found.command).filter(({ isOption }) => isOption) : []
  return new Set(['--help', '--quiet', '--color', ...terms.flatMap(({ name: long, short = long }) => [long, short])])
}
