import { BailiwickError } from '../../errors.ts'
import { isAbsent, isEmpty, textNode, withField, withoutField, writtenText } from '../../kube/edit-node.ts'
import type { Field, MapNode } from '../../kube/node.ts'

/**
 * Annotation values as text: kustomize keeps build notes among them and writes all of them back as strings, from what
 * was written (`1.10` stays "1.10"), and names without quotes. An empty map goes. Throws `invalid-object`.
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
    if (value.type !== 'scalar') {
      const message = `metadata.annotations: ${key} is not a string`
      throw new BailiwickError('invalid-object', message, { origin: value.origin })
    }
    fields.set(key, { key: keyOrigin, value: textNode(writtenText(value), value.origin) })
  }
  return withField(root, 'metadata', withField(metadata, 'annotations', { ...annotations, fields }))
}
