import { BailiwickError } from '../../errors.ts'
import { through } from '../../kube/edit-node.ts'
import type { MapNode } from '../../kube/node.ts'
import { type ParsedFile, parseText } from '../../kube/yaml/parse-documents.ts'
import type { ConfigEntry } from '../fields/generators.ts'
import type { Entry } from '../model/entry.ts'
import { annotationsAsText } from '../resource/annotations.ts'
import { loadResources } from '../resource/load-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { ResourceList } from '../resource/resource-list.ts'
import { toPlain } from '../resource/round-trip.ts'

/**
 * The objects that entries name, as their builtins read them; those that are written in the kustomization itself come
 * first, as in kustomize. `add` puts what a path leads to into a list. Throws what reading them throws, and
 * `kustomize-invalid` for two of one kind and name.
 */
export function loadConfigs(
  entries: readonly ConfigEntry[],
  add: (entry: Entry, list: ResourceList) => void,
): MapNode[] {
  const list = new ResourceList()
  const [inline, paths] = [entries.filter(isInline), entries.filter(entry => !isInline(entry))]
  for (const entry of inline) list.appendAll(loadResources(parseEntry(entry), []))
  for (const entry of paths) if (entry.text !== '') add(entry, list)
  return list.all.map(asConfig)
}

/** Whether an entry is not a path; kustomize tries what is YAML objects as such first. */
export function isInline({ text, origin }: ConfigEntry): boolean {
  if (/\n|^\s*\{/.test(text)) return true
  if (!/^\s*(?:~|null|Null|NULL|#.*|---.*|\.\.\..*)?\s*$/.test(text) || text === '') return false
  const message = `${JSON.stringify(text)}: neither a path nor an object`
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}

/** What is written in an entry; lines of a literal block keep their place. */
export function parseEntry({ node, text, origin }: ConfigEntry): ParsedFile {
  if (node.style !== 'literal') return parseText(text, () => origin)
  const indent = node.indent ?? 0
  return parseText(text, (line, column) => ({ ...origin, line: origin.line + line, column: column + indent }))
}

function asConfig(resource: Resource): MapNode {
  const root = toPlain(annotationsAsText(resource.root))
  const last = resource.trail.at(-1)
  const step = resource.current.kind.endsWith('Generator') ? 'generator' : 'transformer'
  return last ? (through(root, { ...last, step }) as MapNode) : root
}
