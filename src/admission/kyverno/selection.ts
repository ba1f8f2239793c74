import { isLabelKey, isLabelValue } from '../../kube/object.ts'
import {
  type ContextValue,
  type Fields,
  goText,
  isFields,
  isList,
  matchesWildcard,
  textAt,
  Unknown,
  valueAt,
} from '../jmespath/values.ts'
import type { RuleRequest } from './rule-request.ts'

/** Undefined: the fleet does not determine the answer. */
type Answer = boolean | undefined

/** Whether `match` and `exclude` of a rule select an object (pkg/engine/utils of Kyverno). */
export function isSelected(rule: Fields, request: RuleRequest): Answer {
  const matched = inBlock(rule.get('match'), request)
  if (matched === false) return false
  const excluded = inBlock(rule.get('exclude'), request)
  return and(matched, excluded === undefined ? undefined : !excluded)
}

/** A lone `match`, as in a PolicyException, with only `any` and `all`. */
export function isExcepted(match: ContextValue | undefined, request: RuleRequest): Answer {
  const has = ['any', 'all'].some(key => {
    const list = valueAt(match, [key])
    return isList(list) && list.length > 0
  })
  return has && inBlock(match, request)
}

function listAt(block: ContextValue | undefined, key: string): readonly ContextValue[] {
  const list = valueAt(block, [key])
  return isList(list) ? list : []
}

function inBlock(block: ContextValue | undefined, request: RuleRequest): Answer {
  const [any, all] = [listAt(block, 'any'), listAt(block, 'all')]
  if (any.length > 0) return some(any, filter => inFilter(filter, request))
  if (all.length > 0) return every(all, filter => inFilter(filter, request))
  return inFilter(block ?? null, request)
}

const OF_USERS = ['roles', 'clusterRoles', 'subjects']

/** Whether one filter matches: all parts must; an empty filter matches nothing. */
function inFilter(filter: ContextValue, request: RuleRequest): Answer {
  const resources = valueAt(filter, ['resources']) ?? null
  const users = OF_USERS.filter(key => listAt(filter, key).length > 0)
  const parts = isFields(resources) ? [...resources].filter(([, value]) => !isEmpty(value)) : []
  const asked = request.user ? users : []
  if (parts.length === 0 && asked.length === 0) return false
  return and(
    every(parts, ([key, value]) => inPart(key, value, request)),
    every(asked, key => isUser(key, listAt(filter, key), request)),
  )
}

const isEmpty = (value: ContextValue) => value === null || value === '' || (isList(value) && value.length === 0)

function inPart(key: string, value: ContextValue, request: RuleRequest): Answer {
  const { object, namespace, name, kind } = request
  const isLike = (pattern: ContextValue, text: string) => typeof pattern === 'string' && matchesWildcard(pattern, text)
  const list = isList(value) ? value : []
  switch (key) {
    case 'kinds':
      return list.some(one => typeof one === 'string' && isKindSelected(one, request))
    case 'name':
      return isLike(value, name)
    case 'names':
      return list.some(one => isLike(one, name))
    case 'namespaces':
      return list.some(one => isLike(one, kind === 'Namespace' ? name : namespace))
    case 'operations':
      return list.includes(request.operation)
    case 'annotations':
      return hasAnnotations(value, valueAt(object, ['metadata', 'annotations']) ?? null)
    case 'selector':
      return isLabelled(value, { labels: valueAt(object, ['metadata', 'labels']) ?? null, isComplete: true })
    case 'namespaceSelector': {
      if (kind === 'Namespace') return false
      return matchesLabels(value, request.namespaceLabels)
    }
    default:
      return undefined
  }
}

function isUser(key: string, list: readonly ContextValue[], { user, roles, clusterRoles }: RuleRequest): Answer {
  if (key === 'roles') return list.some(one => typeof one === 'string' && roles.includes(one))
  if (key === 'clusterRoles') return list.some(one => typeof one === 'string' && clusterRoles.includes(one))
  return list.some(subject => {
    const [kind, name, namespace] = ['kind', 'name', 'namespace'].map(field => textAt(subject, [field]))
    if (kind === 'Group') return user!.groups.some(group => matchesWildcard(name!, group))
    if (kind === 'User') return matchesWildcard(name!, user!.name)
    return kind === 'ServiceAccount' && matchesWildcard(`system:serviceaccount:${namespace}:${name}`, user!.name)
  })
}

function hasAnnotations(wanted: ContextValue, given: ContextValue): Answer {
  if (!isFields(wanted)) return false
  const values = isFields(given) ? [...given] : []
  return every([...wanted], ([key, value]) =>
    some(values, ([name, one]) => {
      if (!matchesWildcard(key, name)) return false
      return one instanceof Unknown ? undefined : matchesWildcard(goText(value), goText(one))
    }),
  )
}

interface Labels {
  readonly labels: ContextValue
  readonly isComplete: boolean
}

/** Whether a selector matches labels. Keys and values may have wildcards; an invalid selector matches nothing. */
export function matchesLabels(selector: ContextValue, labels: Labels | undefined): Answer {
  return isLabelled(selector, labels ?? { labels: null, isComplete: true })
}

function isLabelled(selector: ContextValue, { labels, isComplete }: Labels): Answer {
  if (!isFields(selector)) return false
  const given = isFields(labels) ? labels : new Map<string, ContextValue>()
  const [equal, expressions] = [selector.get('matchLabels') ?? null, selector.get('matchExpressions') ?? null]
  const wanted = isFields(equal) ? [...equal] : []
  return and(
    every(wanted, ([key, value]) => hasLabel(key, goText(value), given, isComplete)),
    every(isList(expressions) ? expressions : [], one => isMet(one, given, isComplete)),
  )
}

function hasLabel(key: string, value: string, given: Fields, isComplete: boolean): Answer {
  if (!/[*?]/.test(key + value)) {
    if (!isLabelKey(key) || !isLabelValue(value)) return false
    const found = given.get(key)
    if (found === undefined) return isComplete ? false : undefined
    return found instanceof Unknown ? undefined : found === value
  }
  const answer = some([...given], ([name, one]) => {
    if (!matchesWildcard(key, name)) return false
    return one instanceof Unknown ? undefined : matchesWildcard(value, goText(one))
  })
  return answer === false && !isComplete ? undefined : answer
}

function isMet(requirement: ContextValue, given: Fields, isComplete: boolean): Answer {
  const [key, operator] = [textAt(requirement, ['key']), textAt(requirement, ['operator'])]
  const values = listAt(requirement, 'values')
  const found = given.get(key)
  if (found === undefined && !isComplete) return undefined
  if (operator === 'Exists') return found !== undefined
  if (operator === 'DoesNotExist') return found === undefined
  if (found instanceof Unknown) return undefined
  if (operator === 'In') return found !== undefined && values.includes(found)
  return operator === 'NotIn' && (found === undefined || !values.includes(found))
}

function and(a: Answer, b: Answer): Answer {
  if (a === false || b === false) return false
  return a === undefined || b === undefined ? undefined : true
}

function some<T>(items: readonly T[], test: (item: T) => Answer): Answer {
  const answers = items.map(test)
  if (answers.includes(true)) return true
  return answers.includes(undefined) ? undefined : false
}

function every<T>(items: readonly T[], test: (item: T) => Answer): Answer {
  const answers = items.map(test)
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}

const VERSION = /^(?:v\d(?:(?:alpha|beta)\d)?|\*)$/

/** Parses Kyverno's notation of group, version, kind and subresource (ParseKindSelector of pkg/utils/kube). */
function readKind(written: string): readonly [group: string, version: string, kind: string, subresource: string] {
  const parts = written.split('/')
  const [a = '', b = '', c = '', d = ''] = [...parts.slice(0, -1), ...parts.at(-1)!.split('.')]
  const count = parts.length - 1 + parts.at(-1)!.split('.').length
  if (count === 1) return ['*', '*', a, '']
  if (count === 2) {
    if (a === '*' && b === '*') return ['*', '*', '*', '*']
    if (a === '*' && b.toLowerCase() === b) return ['*', '*', '*', b]
    return VERSION.test(a) ? ['*', a, b, ''] : ['*', '*', a, b]
  }
  if (count === 3) return VERSION.test(a) ? ['*', a, b, c] : [a, b, c, '']
  return count === 4 ? [a, b, c, d] : ['', '', '', '']
}

/**
 * The API server converts an object to the version that a webhook requests (matchPolicy: Equivalent), so a rule also applies to older
 * versions of the object. A rule version older than the object's may no longer be served.
 */
const isVersion = (wanted: string, given: string) =>
  matchesWildcard(wanted, given) || (VERSION.test(wanted) && stability(wanted) > stability(given))

/** Orders versions: v1 before v1beta2 before v1alpha1; v2 before v1. */
function stability(version: string): number {
  const [, major = '0', stage, minor = '0'] = /^v(\d{1,3})(?:(alpha|beta)(\d{1,3}))?$/.exec(version) ?? []
  const rank = stage === undefined ? 2 : stage === 'beta' ? 1 : 0
  return rank * 1_000_000 + Number(major) * 1_000 + Number(minor)
}

/** Whether a filter's kind selects an object, or a subresource where the request is about one. */
export function isKindSelected(
  written: string,
  asked: Pick<RuleRequest, 'group' | 'version' | 'kind' | 'subresource'>,
): boolean {
  const [group, version, kind, subresource] = readKind(written)
  return (
    matchesWildcard(kind, asked.kind) &&
    matchesWildcard(group, asked.group) &&
    isVersion(version, asked.version) &&
    matchesWildcard(subresource, asked.subresource ?? '')
  )
}
