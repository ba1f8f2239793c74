import { COMMANDS, commandNamed } from '../src/surface/cli/commands.ts'

/** docs/command-reference.md: what `bailiwick help COMMAND` prints, for every command. */
export async function commandReference(): Promise<string> {
  const chapters = await Promise.all(
    COMMANDS.map(async ([name, summary]) => {
      const { command } = (await commandNamed(name))!
      return `## ${name}\n\n${summary}.\n\n\`\`\`text\nusage: bailiwick ${command.usage.trimEnd()}\n\`\`\`\n`
    }),
  )
  const index = COMMANDS.map(([name, summary]) => `| [\`${name}\`](#${name}) | ${summary} |\n`).join('')
  return `${INTRODUCTION}\n| command | what it does |\n|---|---|\n${index}\n${chapters.join('\n')}`
}

const INTRODUCTION = `# Commands of the command line

\`bailiwick help COMMAND\` prints the same text. [The command line in daily work](command-line.md) describes output, editors and agents. Every command
has the options \`--help\`, \`--quiet\` (only what blocks, and the result) and \`--color auto|always|never\`. Exit codes: 0 pass or done, 1 new violations,
2 could not be evaluated or bad usage.

<!-- written by npm run generate from the usage texts in src/surface/cli -->
`
