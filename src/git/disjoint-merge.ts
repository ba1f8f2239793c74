import type { ListedEntry } from './tree.ts'

/**
 * The files of git's merge of two trees, by the bytes of their paths, where nothing is to be decided: the sides changed other
 * plain files, and neither has both removed and added some, so none can have been renamed. Undefined for every other merge,
 * also where git would merge without a conflict. `before`: their one merge base.
 */
export function mergeDisjoint(
  before: readonly ListedEntry[],
  ours: readonly ListedEntry[],
  theirs: readonly ListedEntry[],
): readonly ListedEntry[] | undefined {
  const [kept, brought] = [changesOf(before, ours), changesOf(before, theirs)]
  if (!kept || !brought) return undefined
  const merged = new Map(ours.map(entry => [entry.path, entry]))
  for (const [path, entry] of brought) {
    if (kept.has(path)) return undefined
    if (entry) merged.set(path, entry)
    else merged.delete(path)
  }
  const directories = new Set([...merged.keys()].flatMap(directoriesTo))
  if ([...brought.keys(), ...kept.keys()].some(path => merged.has(path) && directories.has(path))) return undefined
  const sorted = [...merged.values()].map(entry => ({ entry, key: Buffer.from(entry.path) }))
  return sorted.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry)
}

/** What a side has at each path that it changed: undefined where it removed the file. */
function changesOf(before: readonly ListedEntry[], after: readonly ListedEntry[]) {
  const rest = new Map(before.map(entry => [entry.path, entry]))
  const changes = new Map<string, ListedEntry | undefined>()
  let adds = false
  for (const entry of after) {
    const was = rest.get(entry.path)
    rest.delete(entry.path)
    if (was?.id === entry.id && was.mode === entry.mode) continue
    if (!isPlain(entry) || (was && !isPlain(was))) return undefined
    adds ||= was === undefined
    changes.set(entry.path, entry)
  }
  if (rest.size > 0 && adds) return undefined
  for (const [path, entry] of rest) {
    if (!isPlain(entry)) return undefined
    changes.set(path, undefined)
  }
  return changes
}

/** Whether no setting of git can apply to a file: it is not a link, a submodule or what says how files are merged. */
const isPlain = ({ path, mode }: ListedEntry): boolean =>
  mode.startsWith('100') && !/(?:^|\/)\.gitattributes$/.test(path)

/** Every directory that a path needs. */
function directoriesTo(path: string): string[] {
  const found: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at))
  return found
}
