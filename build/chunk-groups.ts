import { join } from 'node:path'
import type { OutputOptions } from 'rolldown'

type CodeSplitting = Exclude<OutputOptions['codeSplitting'], boolean | undefined>
type Group = NonNullable<CodeSplitting['groups']>[number]
type ChunkContext = Parameters<Extract<Group['name'], (...args: never) => unknown>>[1]

/**
 * What every start needs is one chunk; of what `check` needs, so is what the web process needs too, what `render` needs too,
 * and all the rest: a start pays for each file that it opens, and next to nothing for code in it that does not run.
 * Everything else is split by who needs it.
 */
export function chunkGroups(root: string): Group[] {
  const reached = (file: string) => reachedFrom(join(root, file))
  const check = reached('src/surface/cli/check.ts')
  const chunks: readonly (readonly [name: string, holds: Reached])[] = [
    ['start', reached('src/surface/cli/main.ts')],
    ['shared', both(check, reached('src/index.ts'))],
    ['engine', both(check, reached('src/surface/cli/render.ts'))],
    ['core', check],
  ]
  return chunks.map(([name, holds], index) => ({
    debugName: name,
    name: (id, context) => (holds(id, context) ? name : null),
    priority: chunks.length - index,
    includeDependenciesRecursively: false,
  }))
}

type Reached = (id: string, context: ChunkContext) => boolean

const both = (one: Reached, other: Reached): Reached => {
  return (id, context) => one(id, context) && other(id, context)
}

/** Of a package only what is used is bundled, which its imports do not say: it is split by who needs it, like everything else. */
const isOurs = (id: string) => !id.includes('node_modules')

/** Whether a program that begins with this file loads a module of ours at its start. */
function reachedFrom(file: string): Reached {
  let reached: Set<string> | undefined
  return (id, context) => {
    if (!reached) {
      reached = new Set([file])
      for (const one of reached)
        for (const next of context.getModuleInfo(one)?.importedIds ?? []) if (isOurs(next)) reached.add(next)
    }
    return reached.has(id)
  }
}
