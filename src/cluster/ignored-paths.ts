import { BailiwickError } from '../errors.ts'
import type { IgnoreRule, IgnoreTarget } from '../flux/apply-settings/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import { groupOf } from '../kube/object.ts'
import { matchesSelector } from '../kustomize/select/match-selector.ts'
import { matchesPattern } from '../kustomize/select/pattern.ts'
import { mapAt, stringAt } from './json-at.ts'

/** Work of one object's patterns; they were compiled when the settings were read. */
const MAX_STEPS = 100_000
const ORIGIN = { repository: '', file: '', line: 1, column: 1 }

/**
 * The pointers that rules ignore of an object (fluxcd/pkg ssa/jsondiff: an empty part of a target matches everything).
 * Throws `cluster-invalid` where the patterns take too much work.
 */
export function ignoredPaths(rules: readonly IgnoreRule[], object: Json): string[] {
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
