import { at, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { isAccepted } from '../accept-walk.ts'
import { type SchemaAnswer, withoutSops } from '../check-object.ts'
import { nameProblem } from '../core/name-problem.ts'
import type { Problem } from '../model/problem.ts'
import { MAX_PROBLEMS, TypeWalk } from '../type-walk.ts'
import { NEWEST } from '../types-table.ts'
import { acceptsCustom } from './accepts-custom.ts'
import { checkRules, type RuleNotEvaluated } from './check-rules.ts'
import { CustomWalk } from './custom-walk.ts'
import type { Definition } from './definition.ts'
import { withDefaults } from './with-defaults.ts'

/**
 * Compares an object with its custom resource definition as the API server does: defaults, then the schema, object metadata
 * and CEL rules (k8s.io/apiextensions-apiserver, pkg/apiserver). `old`: the object before an update.
 */
export function checkCustom(
  root: MapNode,
  definition: Definition,
  { isDecrypted = false, old }: { readonly isDecrypted?: boolean; readonly old?: MapNode | undefined } = {},
): SchemaAnswer {
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  const name = apiVersion.slice(apiVersion.indexOf('/') + 1)
  if (!definition.served.includes(name)) return notServed(apiVersion, definition)
  const version = definition.version(name)
  if (version === undefined) return { problems: [], count: 0, isKnown: false }
  const written = isDecrypted ? withoutSops(root) : root
  const quick = acceptsCustom(written, version.schema)
  const object = quick === 'valid' ? written : withDefaults(written, version.schema)
  const walk = new CustomWalk()
  if (quick === 'unsure') walk.value(object, version.schema, true)
  const metadata = at(object, METADATA)
  const ofMetadata = new TypeWalk(NEWEST, METADATA)
  ofMetadata.add(nameProblem(object, 'subdomain'))
  if (metadata && !isAccepted(metadata, OBJECT_META, NEWEST, METADATA)) ofMetadata.object(metadata, OBJECT_META)
  for (const one of withDroppedLabels(ofMetadata.problems)) walk.problem(one)
  const notEvaluated: RuleNotEvaluated[] = []
  // the API server skips CEL rules for an object that has one of these problems
  if (walk.problems.some(one => BLOCKING.has(one.kind))) walk.undecided += version.schema.hasRules ? 1 : 0
  else if (quick !== 'valid') {
    const isOneKind = old !== undefined && stringAt(old, ['apiVersion']) === apiVersion
    checkRules(object, version, isOneKind ? withDefaults(old, version.schema) : undefined, {
      problem: one => walk.problem(one),
      notEvaluated(one) {
        walk.undecided += 1
        if (notEvaluated.length < MAX_PROBLEMS) notEvaluated.push(one)
      },
    })
  }
  return {
    problems: walk.problems,
    count: walk.count + ofMetadata.count - ofMetadata.problems.length,
    undecided: walk.undecided,
    notEvaluated,
    isKnown: true,
  }
}

/**
 * Flux reads the labels as texts and writes them again; if one is of another type it writes only its own, so the others do not reach the
 * API server (fluxcd/pkg, ssa/manager.go, SetOwnerLabels).
 */
function withDroppedLabels(problems: readonly Problem[]): Problem[] {
  const isOfLabels = ({ path }: Problem) => path[1] === 'labels'
  if (!problems.some(one => one.kind === 'wrong-type' && isOfLabels(one))) return [...problems]
  return problems.flatMap((one): Problem[] => {
    if (!isOfLabels(one)) return [one]
    return one.kind === 'wrong-type' ? [{ ...one, kind: 'dropped-labels' }] : []
  })
}

const METADATA = ['metadata']
const OBJECT_META = 'meta.v1.ObjectMeta'
const BLOCKING: ReadonlySet<Problem['kind']> = new Set(['missing-field', 'wrong-type', 'not-allowed'])

function notServed(apiVersion: string, { served }: Definition): SchemaAnswer {
  const names = served.map(version => `${groupOf(apiVersion)}/${version}`)
  const allowed = names.join(', ')
  const problem: Problem = {
    kind: 'unknown-kind',
    path: ['apiVersion'],
    allowed,
    found: 'a version that is not served',
    names,
  }
  return { problems: [problem], count: 1, isKnown: true }
}
