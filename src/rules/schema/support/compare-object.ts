import { groupOf, idOf, type KubeObject } from '../../../kube/object.ts'
import { type Message, message, part } from '../../../message/message.ts'
import { checkObject, type SchemaAnswer } from '../../../schema/check-object.ts'
import { catalogued } from '../../../schema/custom/catalog.ts'
import { checkCustom } from '../../../schema/custom/check-custom.ts'
import { type Definition, definitionOf } from '../../../schema/custom/definition.ts'
import type { ComparedVersion } from './compared-version.ts'

/** What an object is compared with. */
export interface ComparedObject {
  readonly answer: SchemaAnswer
  /** Who says so: a version of Kubernetes, or a definition. */
  readonly server: Message
  /** The cluster certainly refuses what is found. */
  readonly isCertain: boolean
  /** The object is of a kind that the fleet or a project defines. */
  readonly isCustom: boolean
}

const UNKNOWN: SchemaAnswer = { problems: [], count: 0, isKnown: false }

/**
 * Compares an object with the types of a version of Kubernetes, else with the definition of its kind that the fleet
 * renders, else with the catalog's, which may be for another release than the cluster runs. `old`: the object before an
 * update.
 */
export function compareObject(
  object: KubeObject,
  version: ComparedVersion,
  definitions: (kind: string) => readonly KubeObject[],
  isDecrypted: boolean,
  old?: KubeObject,
): ComparedObject {
  const { apiVersion, kind, name } = idOf(object)
  const group = groupOf(apiVersion)
  const rendered = definitions(`${group}/${kind}`)
  const own = rendered.map(({ root }) => definitionOf(root)).findLast(Boolean)
  const custom = own ?? catalogued(group, kind)
  if (custom === undefined) {
    const isAssumed = !version.isCertain
    const answer = checkObject(object.root, { version: version.minor, runs: version.runs, isAssumed, isDecrypted })
    return { answer, server: versionName(version), isCertain: version.isCertain, isCustom: false }
  }
  const server = definitionName(custom, own !== undefined)
  // what one release of a project does not serve, the cluster's may
  const isOther = own === undefined && !custom.served.includes(apiVersion.slice(apiVersion.indexOf('/') + 1))
  const answer = name === '' || isOther ? UNKNOWN : checkCustom(object.root, custom, { isDecrypted, old: old?.root })
  // two definitions of one kind: the cluster has the one that was applied last
  return { answer, server, isCertain: own !== undefined && rendered.length === 1, isCustom: true }
}

// objects are many, and what they are compared with is the same for most
const versionNames = new Map<string, Message>()
const ownNames = new WeakMap<Definition, Message>()
const catalogNames = new WeakMap<Definition, Message>()

function versionName({ minor, isCertain }: ComparedVersion): Message {
  const key = `1.${minor}${isCertain ? '' : ' (assumed)'}`
  const known = versionNames.get(key)
  if (known) return known
  const name = message`Kubernetes ${part('value', `1.${minor}`)}${isCertain ? '' : ' (assumed)'}`
  versionNames.set(key, name)
  return name
}

function definitionName(definition: Definition, isOwn: boolean): Message {
  const names = isOwn ? ownNames : catalogNames
  const known = names.get(definition)
  if (known) return known
  const kind = part('object', definition.kind)
  const name = isOwn ? message`CustomResourceDefinition ${kind}` : message`the catalog's definition of ${kind}`
  names.set(definition, name)
  return name
}
