import { allowedWord } from './allowed-word.ts'
import type { Command, ListedCommand } from './command.ts'
import { completionScript, SHELLS } from './completion-script.ts'
import { completionWords } from './completion-words.ts'
import { usageError } from './usage-error.ts'

const USAGE = `completion ${SHELLS.join('|')}`

/** `bailiwick completion`: prints a script that lets a shell complete these commands, with their options and values. */
export const completionOf = (commands: readonly ListedCommand[]): Command => ({
  name: 'completion',
  usage: `${USAGE}

Load it in the current shell, or in the startup file of the shell:
  bash: source <(bailiwick completion bash)
  zsh:  source <(bailiwick completion zsh)
  fish: bailiwick completion fish | source`,
  async run([given, more], io) {
    const shell = allowedWord(USAGE, 'shell', given, SHELLS)
    if (more !== undefined) throw usageError(USAGE, `${JSON.stringify(more)} is an extra argument`)
    io.stdout(completionScript(shell, await completionWords(commands)))
    return 0
  },
})
