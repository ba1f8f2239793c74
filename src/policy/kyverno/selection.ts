import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject, ObjectId } from '../../kube/object.ts'
import type { UserInfo } from '../../kube/rbac/request.ts'
import { textMapOf, textsOf } from '../../kube/read-text.ts'
import { matchesWildcard } from './wildcard.ts'

/** What a rule of Kyverno is asked about. */
export interface KyvernoSubject {
  readonly object: KubeObject
  readonly id: ObjectId
  /** `<group>/<Kind>`; of a rule that speaks about Pods and is asked about their template, that of a Pod. */
  readonly kind: string
  readonly user: UserInfo
  readonly operations: readonly string[]
}

/** Labels of a namespace, as the platform wrote them. */
export type NamespaceLabels = (namespace: string) => ReadonlyMap<string, string>

/** Whether a rule of Kyverno speaks about an object by its `match` and `exclude`; undefined: it cannot be decided here. */
export function isSelected(rule: Node, subject: KyvernoSubject, labels: NamespaceLabels): boolean | undefined {
  const matched = inBlock(at(rule, ['match']), subject, labels)
  if (matched !== true) return matched
  const exclude = at(rule, ['exclude'])
  const excluded = isEmpty(exclude) ? false : inBlock(exclude, subject, labels)
  return excluded === undefined ? undefined : !excluded
}

const isEmpty = (node: Node | undefined) =>
  !node || (node.type === 'map' ? node.fields.size === 0 : node.type === 'scalar' && node.value === null)

function inBlock(block: Node | undefined, subject: KyvernoSubject, labels: NamespaceLabels): boolean | undefined {
  if (block?.type !== 'map') return undefined
  const [one, all] = [at(block, ['any']), at(block, ['all'])]
  if (one?.type === 'list') return some(one.items.map(item => inFilter(item, subject, labels)))
  if (all?.type === 'list') return every(all.items.map(item => inFilter(item, subject, labels)))
  return inFilter(block, subject, labels)
}

/** One filter: all its parts must hold. Roles of the user are not worked out here. */
function inFilter(filter: Node, subject: KyvernoSubject, labels: NamespaceLabels): boolean | undefined {
  if (filter.type !== 'map') return undefined
  return every(
    [...filter.fields].map(([key, { value }]) => {
      if (key === 'resources') return inResources(value, subject, labels)
      if (key === 'subjects') return isSubject(value, subject.user)
      return isEmpty(value) || (value.type === 'list' && value.items.length === 0) ? true : undefined
    }),
  )
}

function inResources(resources: Node, subject: KyvernoSubject, labels: NamespaceLabels): boolean | undefined {
  if (resources.type !== 'map') return undefined
  const { object, id } = subject
  return every(
    [...resources.fields].map(([key, { value }]) => {
      if (key === 'kinds') return anyText(value, kind => isKind(kind, subject.kind))
      if (key === 'name')
        return anyText({ ...value, type: 'list', items: [value] }, one => matchesWildcard(one, id.name))
      if (key === 'names') return anyText(value, one => matchesWildcard(one, id.name))
      if (key === 'namespaces') return anyText(value, one => matchesWildcard(one, id.namespace))
      if (key === 'operations') return anyText(value, one => subject.operations.includes(one))
      if (key === 'annotations') return hasAnnotations(value, at(object.root, ['metadata', 'annotations']))
      if (key === 'selector') return isLabelled(value, textMapOf(at(object.root, ['metadata', 'labels'])))
      if (key === 'namespaceSelector') return isLabelled(value, labels(id.namespace))
      return undefined
    }),
  )
}

/** A kind as Kyverno writes it: `Kind`, `version/Kind`, `group/version/Kind`. Of the version nothing is asked. */
function isKind(written: string, kind: string): boolean {
  const slash = kind.lastIndexOf('/')
  const parts = written.split('/')
  const isVersion = /^(?:v\d+(?:(?:alpha|beta)\d+)?|\*)$/
  const [name, version, group] = [parts.at(-1)!, parts.at(-2), parts.at(-3)]
  if (version !== undefined && !isVersion.test(version)) return false
  return (
    matchesWildcard(name, kind.slice(slash + 1)) &&
    (group === undefined || matchesWildcard(group, kind.slice(0, slash)))
  )
}

function isSubject(list: Node, { name: user, groups }: UserInfo): boolean | undefined {
  if (list.type !== 'list') return undefined
  return some(
    list.items.map(item => {
      const [kind, name = '', namespace = ''] = ['kind', 'name', 'namespace'].map(key => stringAt(item, [key]))
      if (kind === 'Group') return groups.some(group => matchesWildcard(name, group))
      if (kind === 'User') return matchesWildcard(name, user)
      if (kind === 'ServiceAccount') return matchesWildcard(`system:serviceaccount:${namespace}:${name}`, user)
      return undefined
    }),
  )
}

function hasAnnotations(wanted: Node, given: Node | undefined): boolean | undefined {
  const [patterns, values] = [textMapOf(wanted), textMapOf(given)]
  if (!patterns || !values) return undefined
  return [...patterns].every(([key, value]) =>
    [...values].some(([name, one]) => matchesWildcard(key, name) && matchesWildcard(value, one)),
  )
}

function isLabelled(selector: Node, labels: ReadonlyMap<string, string> | undefined): boolean | undefined {
  const read = readLabelSelector(selector)
  if (!read || !labels) return undefined
  const literal = read.filter(({ key, values }) => ![key, ...values].some(text => /[*?]/.test(text)))
  return literal.length < read.length ? undefined : selects(read, labels)
}

function anyText(list: Node, test: (text: string) => boolean): boolean | undefined {
  const texts = textsOf(list)
  return texts && (texts.length === 0 || texts.some(test))
}

function some(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(true)) return true
  return answers.includes(undefined) ? undefined : false
}

function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}
