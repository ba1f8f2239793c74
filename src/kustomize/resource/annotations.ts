import { BailiwickError } from '../../errors.ts'
import { isAbsent, isEmpty, textNode, withField, withoutField, writtenText } from '../../kube/edit-node.ts'
import type { Field, MapNode } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'

/**
 * Annotation values as text: kustomize keeps build notes among them and writes all of them back as strings, from what
 * was written (`1.10` stays "1.10"). An empty map goes.
 * Throws `invalid-object`, and `kustomize-invalid` or `kustomize-unsupported` for names that YAML reads as something else.
 */
export function annotationsAsText(root: MapNode): MapNode {
  const metadata = root.fields.get('metadata')?.value
  const annotations = metadata?.type === 'map' ? metadata.fields.get('annotations')?.value : undefined
  if (metadata?.type !== 'map' || annotations === undefined) return root
  if (annotations.type !== 'map' && !isAbsent(annotations)) {
    const message = 'metadata.annotations: not a map'
    throw new BailiwickError('invalid-object', message, { origin: annotations.origin })
  }
  if (annotations.type !== 'map' || isEmpty(annotations)) {
    return withField(root, 'metadata', withoutField(metadata, 'annotations'))
  }
  const fields = new Map<string, Field>()
  for (const [key, { key: keyOrigin, value }] of annotations.fields) {
    checkKey(key, keyOrigin)
    if (value.type !== 'scalar') {
      const message = `metadata.annotations: ${key} is not a string`
      throw new BailiwickError('invalid-object', message, { origin: value.origin })
    }
    fields.set(key, { key: keyOrigin, value: textNode(writtenText(value), value.origin) })
  }
  return withField(root, 'metadata', withField(metadata, 'annotations', { ...annotations, fields }))
}

/** The names are written back without quotes: one that YAML reads as a number or the like ends the build. */
function checkKey(key: string, origin: Origin): void {
  const read = key === '<<' ? undefined : resolvePlain(key)
  if (read === key) return
  const isCertain = read !== undefined && key !== ''
  const code = isCertain ? 'kustomize-invalid' : 'kustomize-unsupported'
  const message = `metadata.annotations: the key ${JSON.stringify(key)} is not a string in YAML, and kustomize cannot build it`
  throw new BailiwickError(code, message, { origin, fix: 'Rename the annotation.' })
}
