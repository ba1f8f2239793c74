import type { MapNode, Node } from '../../kube/node.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isUnknown,
  mapIn,
  missingField,
  numberIn,
  type TypeCheck,
  textIn,
  wrongWord,
} from './problem.ts'
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

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]))?$/
const TENS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const TWOS: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }

/** The number `digits` * 10^`tens`. */
interface Quantity {
  readonly digits: bigint
  readonly tens: number
}

/** Undefined for a text that is not a quantity. */
function parse(text: string): Quantity | undefined {
  const match = text.length > 100 ? null : QUANTITY.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent, unit = ''] = match
  if (whole === '' && fraction === '') return undefined
  const tens = exponent === undefined ? (TENS[unit] ?? 0) : Number(exponent)
  const digits = BigInt(`${whole}${fraction}`) << (TWOS[unit] ?? 0n)
  return { digits: sign === '-' ? -digits : digits, tens: tens - fraction.length }
}

/** Whether two texts are one quantity: `1Gi` and `1024Mi` (apimachinery, api/resource). */
export function sameQuantity(a: string, b: string): boolean {
  return compareQuantities(a, b) === 0
}

/** Compares two quantities: negative, zero or positive; undefined if one is not a quantity. */
export function compareQuantities(a: string, b: string): number | undefined {
  const [first, second] = [parse(a), parse(b)]
  if (first === undefined || second === undefined) return undefined
  const smallest = Math.min(first.tens, second.tens)
  const [x, y] = [first, second].map(({ digits, tens }) => digits * 10n ** BigInt(tens - smallest)) as [bigint, bigint]
  return x === y ? 0 : x < y ? -1 : 1
}

/** validateHorizontalPodAutoscalerSpec. */
export const checkAutoscaler: TypeCheck = (node, path, add) => {
  const [least, most] = [numberIn(node, 'minReplicas'), numberIn(node, 'maxReplicas')]
  if (least !== undefined && most !== undefined && most >= 1 && most < least)
    add(badValue([...path, 'maxReplicas'], 'at least minReplicas', 'a smaller number'))
}

const SOURCES: Readonly<Record<string, string>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
}

/** validateMetricSpec. */
export const checkMetric: TypeCheck = (node, path, add) => {
  const type = textIn(node, 'type')
  if (type === undefined || !Object.hasOwn(SOURCES, type)) return
  const own = SOURCES[type]!
  if (!mapIn(node, own) && !isHidden(node, own))
    add(missingField([...path, own], `this field, because type is ${type}`))
  for (const other of Object.values(SOURCES))
    if (other !== own && mapIn(node, other)) add(forbiddenField([...path, other], `${own}, because type is ${type}`))
}
