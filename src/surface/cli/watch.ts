import { CHECK_HELP, CHECK_USAGE } from './check-options.ts'
import type { Command } from './command.ts'

/** `bailiwick watch`: runs `check` again whenever a file changes. */
export const watch: Command = {
  name: 'watch',
  usage: `${CHECK_USAGE.replace('check', 'watch').replace(' [--watch]', '')}\n\n${CHECK_HELP}`,
  async run(args, io) {
    const { check } = await import('./check.ts')
    return check.run(args.includes('--watch') ? args : [...args, '--watch'], io)
  },
}
