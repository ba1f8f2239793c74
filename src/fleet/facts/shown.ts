import { type Message, type MessagePart, message, part, type ValueType } from '../../base/message.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { CONTROLLER } from '../tenancy/delegated.ts'

const MAX = 80

/** A value from a repository as it may stand in a message: in quotes, one line, no control or direction marks, cut. */
export function shown(value: string): string {
  const cut = value.length > MAX ? `${value.slice(0, MAX)}...` : value
  const quoted = JSON.stringify(cut)
  return quoted.replace(/[^\x20-\x7e\u00a1-\u024f\u0370-\u058f]/gu, character => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}

/** A kind or a name, as it may stand in a message: in quotes only where it is not a plain word. */
export function shownName(text: string): string {
  return /^[\w.:-]{1,120}$/.test(text) ? text : shown(text)
}

/** An object by kind, namespace and name, as it may stand in a message. */
export function shownObject(kind: string, namespace: string, name: string): string {
  const object = `${shownName(kind)} `
  return namespace ? `${object}${shownName(namespace)}/${shownName(name)}` : `${object}${shownName(name)}`
}

/** The object of a text `<Kind>/<namespace>/<name>`. */
export function shownId(id: string): string {
  const [kind = '', namespace = '', name = ''] = id.split('/')
  return shownObject(kind, namespace, name)
}

/** `shown` with its type: a value in quotes. */
export function quoted(type: ValueType, value: string): MessagePart {
  return part(type, value, shown(value))
}

/** `shownObject` as a part. */
export function objectPart(kind: string, namespace: string, name: string): MessagePart {
  const value = namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`
  return part('object', value, shownObject(kind, namespace, name))
}

/** The name of an object in messages. */
export function whoOf(object: KubeObject): MessagePart {
  const { kind, namespace, name } = idOf(object)
  return objectPart(kind, namespace, name)
}

/** The same as text. */
export const objectText = (object: KubeObject): string => whoOf(object).text

/** The namespace of an object, which may have none. */
export function namespacePart(namespace: string): Message {
  return namespace === '' ? message`the object's namespace` : message`namespace ${quoted('object', namespace)}`
}

/** Who applies something, for people. */
export function identityPart(identity: { readonly user: string; readonly impersonated: boolean }): Message {
  const user = part('identity', identity.user)
  if (identity.impersonated) return message`${user}`
  return identity.user === CONTROLLER.user
    ? message`Flux's controller itself (cluster-admin)`
    : message`${user} (cluster-admin)`
}
