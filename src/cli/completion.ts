import { BailiwickError } from '../errors.ts'
import type { Command } from './command.ts'
import { completionScript, isShell, SHELLS } from './completion-script.ts'
import { completionWords } from './completion-words.ts'

const USAGE = `completion ${SHELLS.join('|')}`

/** `bailiwick completion`: prints a script that lets a shell complete commands, options and values. */
export const completion: Command = {
  name: 'completion',
  usage: `${USAGE}

Load it in the current shell, or in the startup file of the shell:
  bash: source <(bailiwick completion bash)
  zsh:  source <(bailiwick completion zsh)
  fish: bailiwick completion fish | source`,
  async run([shell, more], io) {
    if (shell === undefined || more !== undefined || !isShell(shell)) {
      throw new BailiwickError('usage', `exactly one shell is required: ${SHELLS.join(', ')}`, {
        fix: `usage: bailiwick ${USAGE}`,
      })
    }
    io.stdout(completionScript(shell, await completionWords()))
    return 0
  },
}
