import { resolve } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import type { Command } from './command.ts'
import { parseOptions } from './parse-options.ts'

const USAGE = 'mcp [--root DIR]...'

/** `bailiwick mcp`: serves editors and agents over the Model Context Protocol on stdin and stdout. */
export const mcp: Command = {
  name: 'mcp',
  usage: `${USAGE}

  --root DIR     folder that may be read, with all that is in it (default: the current folder; repeatable)

Tools: tenant_area, check, can_i, who_can, render, explain_rule, onboard_preview. None writes a file or calls a server. Paths outside of
every root are refused. Texts from repositories are marked as data in each answer.`,
  async run(args, io) {
    const options = parseOptions(args, ['root'], USAGE)
    if (options.positionals.length > 0) {
      const message = `${JSON.stringify(options.positionals[0])} is an extra argument`
      throw new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
    }
    const given = options.all('root')
    const roots = (given.length > 0 ? given : ['.']).map(dir => resolve(io.cwd, dir))
    // loading this library takes longer than most commands run
    const { serveMcp } = await import('./mcp/serve-mcp.ts')
    await serveMcp(roots, io)
    return 0
  },
}
