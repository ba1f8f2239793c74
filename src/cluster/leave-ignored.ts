import { isDeepStrictEqual } from 'node:util'
import { BailiwickError } from '../base/errors.ts'
import { matchesPattern } from '../expr/regexp/pattern.ts'
import type { IgnoreRule, IgnoreTarget } from '../flux/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import { groupOf } from '../kube/object.ts'
import { matchesSelector } from '../kustomize/select/select.ts'
import { itemsAt, jsonAt, mapAt, pointed, stepsOf, stringAt, withPointed } from './json.ts'

interface Ignoring {
  readonly rules: readonly IgnoreRule[]
  readonly live: Json
  /** What the dry run of `body` gave. */
  readonly dry: Json
  /** What would be applied. */
  readonly body: Json
  /** Who applies it. */
  readonly manager: string
}

interface Left {
  /** Live object and dry run without the ignored fields: if they differ, there is something to apply. */
  readonly live: Json
  readonly dry: Json
  /** What to apply where there is: an ignored field that differs has the value of the cluster, or is left to its manager. */
  readonly body: Json
}

/**
 * Leaves fields as the cluster has them (`spec.ignore`), as kustomize-controller 1.9 does (fluxcd/pkg ssa
 * computeDriftedPaths). They are not drift. Where another field drifts, a field that others apply is left out, and one
 * that no other manager applies keeps its live value. An object that is created has all its fields. Pure.
 */
export function leaveIgnored({ rules, live, dry, body, manager }: Ignoring): Left {
  let left: Left = { live, dry, body }
  for (const path of ignoredPaths(rules, dry)) {
    const steps = stepsOf(path)
    const value = pointed(live, steps)
    if (!isDeepStrictEqual(value, pointed(dry, steps))) {
      const kept = isAppliedByOther(live, steps, manager) ? undefined : value
      left = { ...left, body: withPointed(left.body, steps, kept) }
    }
  }
  for (const path of ignoredPaths(rules, dry)) {
    const steps = stepsOf(path)
    left = { ...left, live: withPointed(left.live, steps, undefined), dry: withPointed(left.dry, steps, undefined) }
  }
  return left
}

/** Work of one object's patterns; they were compiled when the settings were read. */
const MAX_STEPS = 100_000
const ORIGIN = { repository: '', file: '', line: 1, column: 1 }

/**
 * The pointers that rules ignore of an object (fluxcd/pkg ssa/jsondiff: an empty part of a target matches everything).
 * Throws `cluster-invalid` where the patterns take too much work.
 */
function ignoredPaths(rules: readonly IgnoreRule[], object: Json): string[] {
  return rules.flatMap(({ paths, target }) => (target === undefined || isTarget(target, object) ? paths : []))
}

function isTarget(target: IgnoreTarget, object: Json): boolean {
  const apiVersion = stringAt(object, 'apiVersion')
  let steps = 0
  const budget = {
    spend(_what: 'steps', amount: number) {
      steps += amount
      if (steps > MAX_STEPS) throw new BailiwickError('cluster-invalid', 'spec.ignore: its patterns take too much work')
    },
  }
  const fits = (pattern: string | undefined, text: string) =>
    pattern === undefined || matchesPattern({ text: pattern, origin: ORIGIN }, text, budget)
  const selects = (selector: string | undefined, labels: Json) =>
    selector === undefined || matchesSelector({ text: selector, origin: ORIGIN }, textsOf(labels))
  return (
    fits(target.namespace, stringAt(object, 'metadata', 'namespace')) &&
    fits(target.name, stringAt(object, 'metadata', 'name')) &&
    fits(target.group, groupOf(apiVersion)) &&
    fits(target.version, apiVersion.slice(apiVersion.indexOf('/') + 1)) &&
    fits(target.kind, stringAt(object, 'kind')) &&
    selects(target.labelSelector, mapAt(object, 'metadata', 'labels')) &&
    selects(target.annotationSelector, mapAt(object, 'metadata', 'annotations'))
  )
}

function textsOf(labels: Json): Map<string, string> {
  return new Map(Object.entries(mapAt(labels)).map(([key, value]) => [key, String(value)]))
}

/**
 * Whether a manager other than `manager` applies the field (server-side apply, not an update): an apply that leaves it
 * out then keeps their value. As isFieldOwnedByOtherApplyManager of fluxcd/pkg ssa.
 */
function isAppliedByOther(live: Json, steps: readonly string[], manager: string): boolean {
  const entries = itemsAt(live, 'metadata', 'managedFields').filter(
    entry => stringAt(entry, 'operation') === 'Apply' && stringAt(entry, 'subresource') === '',
  )
  const trees = entries.map(entry => mapAt(entry, 'fieldsV1'))
  const names = fieldNames(live, steps, trees)
  if (!names) return false
  return entries.some((entry, index) => stringAt(entry, 'manager') !== manager && isOwned(trees[index]!, names))
}

type Tree = Readonly<Record<string, Json>>

/** The steps as managedFields has them: an item of a list by its keys. Undefined where that is not known. */
function fieldNames(live: Json, steps: readonly string[], trees: readonly Tree[]): string[] | undefined {
  const names: string[] = []
  for (const [depth, step] of steps.entries()) {
    const list = pointed(live, steps.slice(0, depth))
    if (!Array.isArray(list)) {
      names.push(`f:${step}`)
      continue
    }
    const item = list[Number(step)]
    const keys = new Set(trees.flatMap(tree => Object.keys(mapAt(jsonAt(tree, ...names)))))
    const key = [...keys].find(one => one.startsWith('k:') && isKeyOf(one, item))
    if (key === undefined) return undefined
    names.push(key)
  }
  return names
}

function isKeyOf(name: string, item: Json | undefined): boolean {
  const keys = mapAt(parsed(name.slice(2)))
  const fields = mapAt(item)
  return Object.entries(keys).every(([key, value]) => isDeepStrictEqual(fields[key], value))
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // the API server writes JSON there; another text is the key of nothing
    return null
  }
}

function isOwned(tree: Tree, names: readonly string[]): boolean {
  return jsonAt(tree, ...names) !== undefined
}
