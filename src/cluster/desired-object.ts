import type { Json } from '../kube/node.ts'
import { mapAt, stringAt } from './json-at.ts'

/**
 * What Flux changes before it applies (fluxcd/pkg ssa/normalize): no status, which is not desired state; and
 * `stringData` of a Secret as `data`, because the API server would not remove its keys again.
 */
export function desiredObject(object: Json): Json {
  const { status: _status, ...rest } = mapAt(object)
  const { creationTimestamp: _created, ...metadata } = mapAt(rest, 'metadata')
  const plain = { ...rest, metadata }
  if (stringAt(object, 'kind') !== 'Secret' || stringAt(object, 'apiVersion') !== 'v1') return plain
  const { stringData, ...secret } = plain as { [key: string]: Json }
  const texts = Object.entries(mapAt(stringData))
  // a value that is no text goes to the API server as it is, which refuses it
  if (texts.length === 0 || texts.some(([, value]) => typeof value !== 'string')) return plain
  const encoded = texts.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')])
  return { ...secret, data: { ...mapAt(secret, 'data'), ...Object.fromEntries(encoded) } }
}
