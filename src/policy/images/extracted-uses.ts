import type { Node, Path } from '../../kube/node.ts'
import { type ContextValue, type Fields, isFields, isList, textAt } from '../kyverno/jmespath/values.ts'
import { useAt } from './custom-image-uses.ts'
import type { ImageUse } from './image-use.ts'

/** The images that `imageExtractors` of a rule find in an object (ExtractFromResource of kyverno pkg/utils/api/image.go). */
export interface Extraction {
  readonly uses: readonly ImageUse[]
  /** Why there may be others; '' for none. */
  readonly why: string
}

/** Undefined: the rule has no extractors for the kind. */
export function extractedUses(rule: Fields, kind: string, root: Node): Extraction | undefined {
  const all = rule.get('imageExtractors')
  const own = isFields(all) ? all.get(kind) : undefined
  if (!isList(own)) return undefined
  const uses: ImageUse[] = []
  let why = ''
  for (const one of own) {
    if (!isFields(one)) continue
    if (textAt(one, ['jmesPath']) !== '') why = 'its imageExtractors change images by jmesPath'
    else uses.push(...usesOf(one, root))
  }
  return { uses, why }
}

function usesOf(extractor: ContextValue, root: Node): ImageUse[] {
  const fields = textAt(extractor, ['path']).split('/').filter(Boolean)
  const value = textAt(extractor, ['value']) || fields.pop()
  if (value === undefined) return []
  return below(root, fields, []).flatMap(({ node, path }) => useAt(node, [value], 'containers', path))
}

interface Place {
  readonly node: Node
  readonly path: Path
}

/** The maps at a path in which `*` is every item or entry. */
function below(node: Node, [field, ...rest]: readonly string[], path: Path): Place[] {
  if (field === undefined) return node.type === 'map' ? [{ node, path }] : []
  if (field === '*' && node.type === 'list')
    return node.items.flatMap((item, index) => below(item, rest, [...path, index]))
  if (node.type !== 'map') return []
  if (field === '*') return [...node.fields].flatMap(([key, { value }]) => below(value, rest, [...path, key]))
  const next = node.fields.get(field)
  return next ? below(next.value, rest, [...path, field]) : []
}
