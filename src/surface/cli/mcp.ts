import { resolve } from 'node:path'
import type { Command } from './command.ts'

/** `bailiwick mcp`: serves editors and agents over the Model Context Protocol on stdin and stdout. */
export const mcp: Command = {
  name: 'mcp',
  usage: [
    ['[--root DIR]...', 'folder that may be read, with all that is in it (default: the current folder; repeatable)'],
  ],
  notes: `Tools: tenant_area, check, can_i, who_can, render, explain_rule, onboard_preview. None writes a file or calls a server. Paths outside of
every root are refused. Texts from repositories are marked as data in each answer.`,
  async run(given, io) {
    const named = given.all('root')
    const roots = (named.length > 0 ? named : ['.']).map(dir => resolve(io.cwd, dir))
    // loading this library takes longer than most commands run
    const { serveMcp } = await import('./mcp/serve-mcp.ts')
    await serveMcp(roots, io)
    return 0
  },
}
