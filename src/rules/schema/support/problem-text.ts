import { quoted } from '../../../facts/shown.ts'
import { ACCESS_FROM } from '../../../flux/source/source-acl.ts'
import { probably } from '../../../message/closest.ts'
import { codeWord, type Message, type MessagePart, message, part } from '../../../message/message.ts'
import type { Problem } from '../../../schema/model/problem.ts'

/** Of more names the number is said. */
const MAX_NAMES = 12

const consequence = ({ kind }: Problem) =>
  kind === 'dropped-labels' ? message` Flux drops all labels of the object.` : message``

/** What `server`, a version of Kubernetes or the definition of a kind, refuses in an object, and the edit that mends it. Values are never shown: they may be secret. */
export function problemText(problem: Problem, who: MessagePart, server: Message): { message: Message; fix: Message } {
  const { path } = problem
  const field = quoted('field', path.join('.'))
  switch (problem.kind) {
    case 'unknown-field':
      return unknownField(problem, message`${who}: ${server} has no field ${field}.`, field)
    case 'dropped-field':
      return unknownField(
        problem,
        message`${who}: Flux drops the field ${field}, which Kubernetes does not know, so it has no effect.`,
        field,
      )
    case 'missing-field':
      return {
        message: message`${who}: ${field} is missing, which ${server} requires.${allowedWords(problem)}${neededText(problem)}`,
        fix: message`Set ${field}.`,
      }
    case 'dropped-labels':
    case 'wrong-type':
    case 'bad-format':
      return {
        message: message`${who}: ${field} is ${part('value', problem.found)}. Allowed: ${part('value', problem.allowed)}.${consequence(problem)}`,
        fix: message`Set ${field} to ${part('value', problem.allowed)}.`,
      }
    case 'not-allowed':
      return {
        message: message`${who}: ${field} has a value that ${server} does not know.${allowedWords(problem)}`,
        fix: message`Set ${field} to one of the allowed values.`,
      }
    case 'forbidden-field':
      return {
        message: message`${who}: ${field} may not stand here. Allowed: ${part('value', problem.allowed)}.`,
        fix: message`Remove ${field}.`,
      }
    case 'immutable':
      return {
        message: message`${who}: the API server refuses to change ${field} of an object that exists${problem.words ? message` (${part('value', problem.words)}), and Flux applies nothing of the Kustomization` : ''}.`,
        fix: message`Leave ${field} as it is, or give the object another name.`,
      }
    case 'rule':
      return {
        message: message`${who}: ${server} does not allow ${path.length === 0 ? message`the object` : field}: ${quoted('value', problem.found)}.`,
        fix: message`Change ${path.length === 0 ? message`the object` : field} so that this rule is true: ${part('value', problem.allowed)}.`,
      }
    case 'no-match':
      return {
        message: message`${who}: ${field} matches none of the alternatives that ${server} allows. Allowed: ${part('value', problem.allowed)}.`,
        fix: message`Change ${field} so that it matches.`,
      }
    case 'duplicate':
      return {
        message: message`${who}: ${field} is a duplicate. Allowed: ${part('value', problem.allowed)}.`,
        fix: message`Remove ${field}, or merge it into the other item.`,
      }
    case 'unknown-kind':
      return unknownKind(problem, who, server)
    case 'deprecated-version':
      return deprecatedVersion(problem, who)
  }
}

/** What a missing field must contain, if not any value will do. */
const neededText = ({ allowed, names }: Problem): Message =>
  names === undefined && allowed !== 'a value' ? message` Needed: ${part('value', allowed)}.` : message``

function allowedWords({ names }: Problem): Message {
  if (names === undefined) return message``
  const listed = part('value', names.slice(0, MAX_NAMES).join(', '))
  const more = names.length - MAX_NAMES
  return more > 0 ? message` Allowed: ${listed} and ${more} more.` : message` Allowed: ${listed}.`
}

function unknownField(problem: Problem, what: Message, field: MessagePart): { message: Message; fix: Message } {
  const { since, until, names = [], path } = problem
  // who removes the block of an encrypted object loses the way to its values
  if (path.length === 1 && path[0] === 'sops') {
    return {
      message: message`${what} The Kustomization that applies the object does not decrypt it, or SOPS did not write all of the block.`,
      fix: message`Set ${codeWord('spec.decryption')} of that Kustomization, or encrypt the file again with SOPS.`,
    }
  }
  if (path.join('.') === 'spec.accessFrom') {
    return {
      message: message`${what} The access control list of this kind is provisional in Flux.`,
      fix: message`Move the list to the annotation ${part('value', ACCESS_FROM)} of the object: the gate enforces it there.`,
    }
  }
  if (since !== undefined) {
    return {
      message: message`${what} Version ${part('value', since)} is the first to have it.`,
      fix: message`Remove ${field}, or declare the version of the cluster in ${codeWord('.github/bailiwick.yaml')} if it is newer.`,
    }
  }
  if (until !== undefined) {
    return {
      message: message`${what} Version ${part('value', until)} was the last to have it.`,
      fix: message`Remove ${field}.`,
    }
  }
  const meant = probably(String(problem.path.at(-1)), names)
  return meant === undefined
    ? { message: message`${what}${allowedWords(problem)}`, fix: message`Remove ${field}.` }
    : { message: what, fix: message`Rename it to ${part('value', meant)}, or remove it.` }
}

function unknownKind(
  { path, since, until, names = [] }: Problem,
  who: MessagePart,
  server: Message,
): { message: Message; fix: Message } {
  const isKind = path[0] === 'kind'
  const last =
    until !== undefined
      ? message` Version ${part('value', until)} was the last to serve it.`
      : since === undefined
        ? message``
        : message` Version ${part('value', since)} is the first to serve it.`
  return names.length === 0
    ? {
        message: message`${who}: ${server} does not serve this kind.${last}`,
        fix: message`Remove the object, or replace it with a kind that is served.`,
      }
    : {
        message: message`${who}: ${server} does not serve this ${isKind ? 'kind' : 'apiVersion'}.${last} Allowed: ${part('value', names.join(', '))}.`,
        fix: message`Set ${isKind ? 'kind' : 'apiVersion'} to ${part('value', names[0]!)}.`,
      }
}

function deprecatedVersion(
  { since = '', until = '', names = [] }: Problem,
  who: MessagePart,
): { message: Message; fix: Message } {
  const what = message`${who}: Kubernetes ${part('value', since)} deprecates this apiVersion, and ${part('value', until)} is the last version that serves it.`
  return names.length === 0
    ? { message: what, fix: message`Replace the object before the cluster is upgraded.` }
    : {
        message: message`${what} Allowed: ${part('value', names.join(', '))}.`,
        fix: message`Set apiVersion to ${part('value', names[0]!)}.`,
      }
}
