import type { MapNode, Node } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import { compareQuantities } from '../model/quantity.ts'
import { badValue, mapIn, missingField, type TypeCheck, textIn, wrongWord } from './read-field.ts'
import { isQualifiedName } from './texts.ts'

const NAMES = ['cpu', 'memory', 'ephemeral-storage']
const RESOURCES = `${NAMES.join(', ')}, hugepages-*, or a name with a domain`
const isHugePages = (name: string) => name.startsWith('hugepages-')

/** Resource names without a domain must be those of Kubernetes. */
const isResource = (name: string): boolean =>
  name.includes('/') ? isQualifiedName(name) : NAMES.includes(name) || isHugePages(name)

/** Extended resources cannot be overcommitted (helper.IsOvercommitAllowed). */
const isExtended = (name: string): boolean =>
  isHugePages(name) || (name.includes('/') && !/(?:^|\.)kubernetes\.io\//.test(name) && !name.startsWith('requests.'))

/** The text of a known quantity; null counts as zero. */
function quantityOf(node: Node | undefined): string | undefined {
  if (node?.type !== 'scalar' || isUnknown(node)) return undefined
  return node.value === null ? '0' : (node.text ?? String(node.value))
}

const isNegative = (text: string): boolean => text.startsWith('-') && (compareQuantities(text, '0') ?? 0) < 0

/** Requests and limits of a container (ValidateContainerResourceRequirements). */
export const checkResources: TypeCheck = (node, path, add) => {
  const [requests, limits] = [mapIn(node, 'requests'), mapIn(node, 'limits')]
  for (const [list, map] of [
    ['requests', requests],
    ['limits', limits],
  ] as const) {
    for (const [name, { value }] of map?.fields ?? []) {
      const here = () => [...path, list, name]
      if (!isResource(name)) add(badValue(here(), RESOURCES, 'under the name of another resource'))
      const text = quantityOf(value)
      if (text === undefined) continue
      if (isNegative(text)) add(badValue(here(), 'a quantity that is not negative', 'a negative quantity'))
      if (list === 'requests') compareWithLimit(name, text, limits)
    }
  }
  function compareWithLimit(name: string, request: string, all: MapNode | undefined): void {
    const field = all?.fields.get(name)
    const limit = quantityOf(field?.value)
    if (field === undefined) {
      if (isExtended(name)) add(missingField([...path, 'limits', name], 'the same quantity as in requests'))
      return
    }
    const order = limit === undefined ? undefined : compareQuantities(request, limit)
    if (order === undefined || order === 0) return
    const here = [...path, 'requests', name]
    if (isExtended(name)) add(badValue(here, 'the quantity of the limit', 'another quantity'))
    else if (order > 0) add(badValue(here, 'at most the limit', 'more than the limit'))
  }
}

/** A claim must request storage, and not a negative amount (ValidatePersistentVolumeClaimSpec). */
export const checkClaim: TypeCheck = (node, path, add) => {
  const here = [...path, 'resources', 'requests', 'storage']
  const storage = mapIn(mapIn(node, 'resources'), 'requests')?.fields.get('storage')?.value
  if (storage === undefined) add(missingField(here))
  const text = quantityOf(storage)
  if (text !== undefined && (compareQuantities(text, '0') ?? 1) <= 0)
    add(badValue(here, 'a quantity of more than 0', 'another quantity'))
  const modes = node.fields.get('accessModes')?.value
  if (modes?.type !== 'list') return
  const isOnce = modes.items.some(item => item.type === 'scalar' && item.value === 'ReadWriteOncePod')
  if (isOnce && modes.items.length > 1)
    add(badValue([...path, 'accessModes'], 'ReadWriteOncePod alone', 'a list with others'))
}

/** Pairs of LimitRange quantities of which the first may not be larger than the second. */
const ORDERED = [
  ['min', 'max'],
  ['min', 'defaultRequest'],
  ['min', 'default'],
  ['defaultRequest', 'default'],
  ['defaultRequest', 'max'],
  ['default', 'max'],
] as const

const LIMITED = ['Pod', 'Container', 'PersistentVolumeClaim']

/** ValidateLimitRange, for one limit. */
export const checkLimits: TypeCheck = (node, path, add) => {
  const type = textIn(node, 'type')
  if (type && !LIMITED.includes(type) && !(type.includes('/') && isQualifiedName(type)))
    add(wrongWord([...path, 'type'], LIMITED))
  const isContainer = type === 'Container'
  for (const list of ['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'])
    for (const name of mapIn(node, list)?.fields.keys() ?? [])
      if (isContainer && !isResource(name))
        add(badValue([...path, list, name], RESOURCES, 'under the name of another resource'))
  for (const [smaller, larger] of ORDERED)
    for (const [name, { value }] of mapIn(node, smaller)?.fields ?? []) {
      const [less, more] = [quantityOf(value), quantityOf(mapIn(node, larger)?.fields.get(name)?.value)]
      if (less !== undefined && more !== undefined && (compareQuantities(less, more) ?? 0) > 0)
        add(badValue([...path, smaller, name], `at most the quantity in ${larger}`, 'a larger quantity'))
    }
}

/** Resources of a quota without a domain (IsStandardQuotaResourceName). */
const IN_QUOTA: ReadonlySet<string> = new Set(
  'cpu memory ephemeral-storage requests.cpu requests.memory requests.storage requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage pods resourcequotas services replicationcontrollers secrets persistentvolumeclaims configmaps services.nodeports services.loadbalancers'.split(
    ' ',
  ),
)
/** Those that are numbers of objects (IsIntegerResourceName). */
const COUNTED =
  /^(?:pods|resourcequotas|services(?:\.nodeports|\.loadbalancers)?|replicationcontrollers|secrets|persistentvolumeclaims|configmaps|count\/.*)$/

/** ValidateResourceQuotaSpec. */
export const checkQuota: TypeCheck = (node, path, add) => {
  for (const [name, { value }] of mapIn(node, 'hard')?.fields ?? []) {
    const here = [...path, 'hard', name]
    const isStandard = IN_QUOTA.has(name) || /^(?:requests\.)?hugepages-/.test(name)
    if (!isStandard && !(name.includes('/') && isQualifiedName(name)))
      add(badValue(here, 'a resource of quotas such as requests.cpu or pods, or a name with a domain', 'another name'))
    const text = quantityOf(value)
    if (text === undefined) continue
    if (isNegative(text)) add(badValue(here, 'a quantity that is not negative', 'a negative quantity'))
    else if (COUNTED.test(name) && /^\d*[1-9]\d*m$/.test(text) && !/000m$/.test(text))
      add(badValue(here, 'a whole number', 'a part of one'))
  }
}
