import { BailiwickError } from '../../errors.ts'
import { type MapNode, originAt, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import type { Origin } from '../../kube/origin.ts'
import { idOfRoot } from '../../kustomize/resource/resource.ts'
import { type PostBuild, type Reference, readPostBuild } from './read-post-build.ts'
import { substituteObject } from './substitute-object.ts'
import type { SubstitutionBudget } from './substitution-budget.ts'
import type { Variable, VariableSource } from './variable.ts'
import type { FindSource } from './variable-source.ts'

/** What the cluster of a Kustomization says about substitution. */
export interface PostBuildFacts {
  /** What `substituteFrom` finds; without it nothing is there. */
  readonly findSource?: FindSource
  /** Whether a variable that is not set is an error; true without it, as in Flux 2.9 and later. */
  readonly strict?: boolean
}

/** Label or annotation of an object in which nothing is substituted. */
const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'
const NAME = /^[_a-zA-Z][_a-zA-Z0-9]*$/

/**
 * Does what `spec.postBuild` of a Flux Kustomization says to the objects that kustomize built. Nothing happens without
 * variables, unless the strategy is Always; then `$$` stays too. Throws `flux-invalid`, `flux-missing-variable`,
 * `flux-unsupported` and `render-limits`.
 */
export function postBuild(
  objects: readonly KubeObject[],
  kustomization: MapNode,
  { findSource, strict = true }: PostBuildFacts,
  budget: SubstitutionBudget,
): readonly KubeObject[] {
  const spec = readPostBuild(kustomization)
  if (!spec || !objects.some(isSubstituted)) return objects
  const { variables, rest, unset } = variablesFor(spec, findSource)
  if (variables.size === 0 && !rest && !spec.always) return objects
  for (const [name, { origin }] of variables) checkName(name, origin)
  const substitution = { variables, rest, unset, strict, budget }
  const ids = new Ids(objects)
  return objects.map(object => {
    if (!isSubstituted(object)) return object
    const root = substituteObject(object.root, substitution)
    const made = root.made ? { made: root.made } : {}
    const substituted = root === object.root ? object : { ...object, root, ...made }
    ids.replace(object, substituted)
    return substituted
  })
}

const isSubstituted = ({ root }: KubeObject): boolean =>
  ['labels', 'annotations'].every(field => stringAt(root, ['metadata', field, SWITCH]) !== 'disabled')

/** Later sources win over earlier ones, and what the Kustomization says itself over all. */
function variablesFor(spec: PostBuild, findSource: FindSource | undefined): VariableSource {
  const variables = new Map<string, Variable>()
  let rest: Variable | undefined
  let unset: Variable | undefined
  for (const reference of spec.substituteFrom) {
    const found = findSource?.(reference.kind, reference.name)
    if (!found && !reference.optional) throw missing(reference)
    // what may have any name may have those of before
    if (found?.rest) variables.clear()
    rest = found?.rest ?? rest
    unset = found?.unset ?? unset
    for (const [name, variable] of found?.variables ?? []) variables.set(name, variable)
  }
  for (const [name, variable] of spec.substitute) variables.set(name, variable)
  // without any variable Flux leaves every text as it is, so that there may be all of that or none of it
  if (unset && variables.size === 0 && !spec.always) rest ??= unset
  return { variables, ...(rest ? { rest } : {}), ...(unset ? { unset } : {}) }
}

function missing({ kind, name, origin }: Reference): BailiwickError {
  const message = `substituteFrom: no ${kind} ${name.slice(0, 300)} in the namespace of the Kustomization is known`
  return new BailiwickError('flux-missing-variable', message, {
    origin,
    fix: 'Let the fleet render it, declare it in .github/bailiwick.yaml, or set optional: true.',
  })
}

function checkName(name: string, origin: Origin): void {
  if (NAME.test(name)) return
  const shown = JSON.stringify(name.slice(0, 100))
  throw new BailiwickError('flux-invalid', `${shown} is no name of a variable: Flux wants ${NAME.source}`, {
    origin,
    fix: 'Rename it, or keep it in another ConfigMap.',
  })
}

/** kustomize finds an object again by its identity, so no other may have it at that moment. */
class Ids {
  private readonly count = new Map<string, number>()

  constructor(objects: readonly KubeObject[]) {
    for (const object of objects) this.add(object, 1)
  }

  replace(before: KubeObject, after: KubeObject): void {
    this.add(before, -1)
    if (this.add(after, 1) === 1) return
    const message = `substitution makes a second ${display(idOf(after))}`
    const origin = originAt(after.root, ['metadata', 'name'])
    throw new BailiwickError('flux-invalid', message, { origin, fix: 'Give each object a name of its own.' })
  }

  private add({ root }: KubeObject, amount: number): number {
    const key = JSON.stringify(Object.values(idOfRoot(root)))
    const count = (this.count.get(key) ?? 0) + amount
    this.count.set(key, count)
    return count
  }
}
