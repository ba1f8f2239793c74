import { BailiwickError } from '../../base/errors.ts'
import { codeWord, message, untyped } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import type { Origin } from '../../base/origin.ts'
import { KUBERNETES } from '../../kube/capabilities/scope.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import { isNamespaceName, isSubdomain } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import { FLEET_FILE } from '../model/fleet-config.ts'
import { ociReference } from '../model/source-ref.ts'

/** A part of a JSON schema (draft-07). */
export type JsonSchema = { readonly [key: string]: unknown }

/** What a part of the file must be: how it is read, and the same as JSON schema, so that neither can say more than the other. */
export interface Shape<T> {
  /** Reads a part that is there; `key` is its place for people (`tenants[0].name`). Throws `config` for anything else. */
  read(node: Node, key: string): T
  readonly schema: JsonSchema
  /** What is allowed, for people: `block or report`. */
  readonly allowed: string
}

/** The fields of a map: the shape of each, and whether it must be there. */
type Fields<T> = { readonly [K in keyof T]: Field<T[K]> }

interface Field<T> {
  readonly shape: Shape<Exclude<T, undefined>>
  readonly needed: boolean
  /** What it is for, for people who hover over it in an editor. */
  readonly about: string
}

/** A field that must be there. */
export const needed = <T>(shape: Shape<Exclude<T, undefined>>, about: string): Field<T> => ({
  shape,
  needed: true,
  about,
})

/** A field that may be left out; then it is undefined. */
export const optional = <T>(shape: Shape<Exclude<T, undefined>>, about: string): Field<T | undefined> => ({
  shape,
  needed: false,
  about,
})

/** One of these words. */
export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  const allowed = words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  return {
    allowed,
    schema: { enum: words },
    read(node, key) {
      const word = words.find(each => node.type === 'scalar' && node.value === each)
      if (word === undefined) throw refused(node, key, allowed)
      return word
    },
  }
}

/** Text that a pattern accepts; `also` looks closer than a pattern can. The pattern must not backtrack. */
export function text(pattern: RegExp, allowed: string, also: (value: string) => boolean = () => true): Shape<string> {
  return {
    allowed,
    schema: { type: 'string', pattern: pattern.source },
    read(node, key) {
      const isText = node.type === 'scalar' && typeof node.value === 'string'
      if (!isText || !pattern.test(node.value) || !also(node.value)) throw refused(node, key, allowed)
      return node.value
    },
  }
}

/** A whole number in a range. */
export function integer(minimum: number, maximum: number): Shape<number> {
  const allowed = `a whole number from ${minimum} to ${maximum}`
  return {
    allowed,
    schema: { type: 'integer', minimum, maximum },
    read(node, key) {
      const value = node.type === 'scalar' ? node.value : undefined
      if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value
      throw refused(node, key, allowed)
    },
  }
}

/** A list; with `identity`, no two items may have the same one. */
export function list<T>(item: Shape<T>, identity?: (item: T) => string): Shape<readonly T[]> {
  const allowed = `a list, each item ${item.allowed}`
  return {
    allowed,
    schema: { type: 'array', items: item.schema },
    read(node, key) {
      if (node.type !== 'list') throw refused(node, key, allowed)
      const seen = new Set<string>()
      return node.items.map((each, index) => {
        const read = item.read(each, `${key}[${index}]`)
        const name = identity?.(read)
        if (name !== undefined && seen.has(name))
          throw refused(each, `${key}[${index}]`, 'an item that is not listed twice')
        if (name !== undefined) seen.add(name)
        return read
      })
    },
  }
}

/** A map with any keys that a pattern accepts; each value knows where its key stands. */
export function dictionary<T>(
  key: { readonly pattern: RegExp; readonly allowed: string },
  value: Shape<T>,
): Shape<ReadonlyMap<string, { readonly value: T; readonly origin: Origin }>> {
  const allowed = `a map from ${key.allowed} to ${value.allowed}`
  return {
    allowed,
    schema: {
      type: 'object',
      propertyNames: { pattern: key.pattern.source },
      additionalProperties: value.schema,
    },
    read(node, place) {
      if (node.type !== 'map') throw refused(node, place, allowed)
      return new Map(
        [...node.fields].map(([name, field]) => {
          if (!key.pattern.test(name)) throw wrong(field.key, `${place} has the key ${quoted(name)}`, key.allowed)
          return [name, { value: value.read(field.value, `${place}.${name}`), origin: field.key }]
        }),
      )
    },
  }
}

/** A map with these keys and no other ones. `read` gets its fields and where it stands. */
export function record<T extends object>(what: string, fields: Fields<T>): Shape<T & { readonly origin: Origin }> {
  const entries = Object.entries(fields) as [keyof T & string, Field<T[keyof T]>][]
  const known = new Map(entries)
  const keys = entries.map(([key]) => key).join(', ')
  const properties = Object.fromEntries(
    entries.map(([key, { shape, about }]) => [key, { description: about, ...shape.schema }]),
  )
  const required = entries.filter(([, field]) => field.needed).map(([key]) => key)
  return {
    allowed: what,
    schema: { type: 'object', properties, additionalProperties: false, ...(required.length > 0 ? { required } : {}) },
    read(node, place) {
      if (node.type !== 'map') throw refused(node, place, `${what}: a map with the keys ${keys}`)
      const dot = place === '' ? '' : `${place}.`
      for (const [key, field] of node.fields) {
        if (known.has(key as keyof T & string)) continue
        throw wrong(field.key, `${quoted(dot + key)} is an unknown key`, keys, probably(key, known.keys()))
      }
      const read = entries.map(([key, field]) => [key, readField(node, key, dot + key, field)] as const)
      return { ...(Object.fromEntries(read) as T), origin: node.origin }
    },
  }
}

function readField<T>(map: MapNode, key: string, place: string, { shape, needed: isNeeded }: Field<T>): T | undefined {
  const value = map.fields.get(key)?.value
  if (value) return shape.read(value, place)
  if (isNeeded) throw wrong(map.origin, `${place} is missing`, shape.allowed)
  return undefined
}

/** A part that is not what it must be. */
export function refused(node: Node, key: string, allowed: string): BailiwickError {
  const subject = key === '' ? 'the file' : key
  return wrong(node.origin, `${subject} is ${describe(node)}`, allowed)
}

/** What is wrong, what is allowed, and what to do; `meant`: the allowed text that was probably meant. */
export function wrong(origin: Origin, what: string, allowed: string, meant?: string): BailiwickError {
  return new BailiwickError(
    'config',
    message`${codeWord(FLEET_FILE)}: ${untyped(what)}. Allowed: ${untyped(allowed)}`,
    {
      origin,
      fix: meant === undefined ? `Write ${allowed}, or remove it.` : `Did you mean ${meant}?`,
    },
  )
}

function describe(node: Node): string {
  if (node.type === 'map') return 'a map'
  if (node.type === 'list') return 'a list'
  if (node.value === null) return 'empty'
  return typeof node.value === 'string' ? quoted(node.value) : String(node.value)
}

/** In quotes, cut, in ASCII: it may hold anything. */
function quoted(value: string): string {
  const cut = value.length > 100 ? `${value.slice(0, 100)}...` : value
  return JSON.stringify(cut).replace(/[^\x20-\x7e]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Short text for people, on one line. */
export const SENTENCE = text(/^\S(?:[^\p{Cc}]{0,498}\S)?$/u, 'one line of text with up to 500 characters')

/** Name of a cluster that is declared. */
export const CLUSTER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** Name of a directory below `clusters`, or of a cluster to which that one applies by a kubeconfig. */
export const CLUSTER = text(
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?: -> kubeconfig (?:ConfigMap\/)?[\w.?-]{1,253}(?:\/[\w.?-]{1,253}){1,2})?$/,
  'the name of a directory of clusters/',
)

/** Name of a tenant: a value of its label. */
export const TENANT = text(
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
  'the name of a tenant, as in its label toolkit.fluxcd.io/tenant',
)

export const NAMESPACE = text(/^[a-z0-9][a-z0-9-]{0,62}$/, 'the name of a namespace', isNamespaceName)

/** Name of an account, a ConfigMap, a Secret. */
export const NAME = text(/^[a-z0-9][a-z0-9.-]{0,252}$/, 'the name of an object', isSubdomain)

/** The user that applies something, as results show it. */
export const USER = text(
  /^[^\s\p{Cc}](?:[^\p{Cc}]{0,298}[^\s\p{Cc}])?$/u,
  'an account, such as system:serviceaccount:apps:dev-team',
)

/** Names of RBAC objects may hold more than others. */
export const ANY_NAME = text(/^[^\s\p{Cc}]{1,253}$/u, 'the name of an object')

export const KIND = text(
  /^(?:[a-z0-9][a-z0-9.-]{0,252}\/)?[A-Z][A-Za-z0-9]{0,62}$/,
  'a kind, such as `Kustomization` or `kustomize.toolkit.fluxcd.io/Kustomization`',
)

/** An API group of custom kinds: those of Kubernetes itself cannot be declared otherwise. */
export const GROUP = text(
  /^[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9][a-z0-9-]{0,62}){1,10}$/,
  'an API group of custom kinds, such as example.com',
  group => !Object.hasOwn(KUBERNETES, group),
)

export const CUSTOM_KIND = text(/^[A-Za-z][A-Za-z0-9]{0,62}$/, 'a kind, such as Widget')

/** A person or a team on GitHub, with the `@` of a mention or without. */
export const APPROVER = text(
  /^@?[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$/,
  'a login or a team, such as ada or acme/platform',
)

/** Name of a branch, without what git itself forbids in one. */
export const BRANCH = text(/^[^\s\p{Cc}~^:?*[\\]{1,250}$/u, 'the name of a branch')

export const ADDRESS = text(
  /^(?:(?:https?|ssh):\/\/|[\w.-]{1,60}@)[^\s\p{Cc}]{1,500}$/u,
  'the address of a repository, such as https://github.com/acme/fleet',
  address => normaliseUrl(address).startsWith('https://'),
)

/** What a source of any kind follows. */
export const SOURCE_ADDRESS = text(
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|[\w.-]{1,60}@)?[^\s\p{Cc}]{1,500}$/u,
  'the address of a source, such as https://github.com/acme/fleet or oci://ghcr.io/acme/fleet',
)

/** An OCI artifact with its tag. */
export const ARTIFACT = text(
  /^oci:\/\/[^\s\p{Cc}]{1,500}$/u,
  'the address of an OCI artifact with its tag, such as oci://ghcr.io/acme/fleet:latest',
  address => ociReference(address)?.tag !== undefined,
)

/** A tag, a range of versions, or the full name of a ref. */
export const REF = text(/^[^\p{Cc}]{1,250}$/u, 'a ref of a source, as in spec.ref of Flux')

export const COMMIT = text(/^[0-9a-f]{40}$/, 'a commit id of 40 hex digits')
