import type { MapNode } from '../../kube/node.ts'
import { bytesIn } from '../model/bytes-in.ts'
import { badValue, isHidden, mapIn, missingField, type TypeCheck, textIn } from './read-field.ts'

/** Keys that a Secret must have, by its type (ValidateSecret). */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}
const ACCOUNT = 'kubernetes.io/service-account.name'

const has = (node: MapNode, key: string): boolean =>
  ['data', 'stringData'].some(name => mapIn(node, name)?.fields.has(key)) ||
  isHidden(node, 'data') ||
  isHidden(node, 'stringData')

export const checkSecret: TypeCheck = (node, path, add) => {
  const type = textIn(node, 'type') ?? ''
  for (const key of Object.hasOwn(NEEDED, type) ? NEEDED[type]! : [])
    if (!has(node, key)) add(missingField([...path, 'data', key], `this key, because type is ${type}`))
  if (type === 'kubernetes.io/basic-auth' && !has(node, 'username') && !has(node, 'password'))
    add(missingField([...path, 'data', 'username'], 'username or password'))
  if (
    type === 'kubernetes.io/service-account-token' &&
    !mapIn(mapIn(node, 'metadata'), 'annotations')?.fields.has(ACCOUNT)
  )
    add(missingField([...path, 'metadata', 'annotations', ACCOUNT], 'the name of a ServiceAccount'))
}

/** Limit on the total bytes of all values of a ConfigMap or Secret. */
const MAX_CONTENT = 1024 * 1024

/** ValidateConfigMap. */
export const checkConfigMap: TypeCheck = (node, path, add) => {
  const [data, binary] = [mapIn(node, 'data'), mapIn(node, 'binaryData')]
  for (const key of binary?.fields.keys() ?? [])
    if (data?.fields.has(key))
      add({
        kind: 'duplicate',
        path: [...path, 'binaryData', key],
        allowed: 'each key in data or in binaryData',
        found: 'a duplicate',
      })
  const texts: string[] = []
  for (const { value } of data?.fields.values() ?? [])
    if (value.type === 'scalar' && typeof value.value === 'string' && !value.opaque) texts.push(value.value)
  let size = 0
  for (const { value } of binary?.fields.values() ?? [])
    if (value.type === 'scalar' && typeof value.value === 'string')
      size += Math.floor((value.value.replaceAll(/[\s=]/g, '').length * 3) / 4)
  size += bytesIn(texts, MAX_CONTENT - size)
  if (size > MAX_CONTENT) add(badValue([...path, 'data'], `at most ${MAX_CONTENT} bytes`, `${size} bytes`))
}
