import { BailiwickError } from '../errors.ts'
import type { Hole } from '../kube/hole.ts'
import { canonical } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Artifact } from './artifact.ts'
import { isOfPart } from './is-fatal.ts'
import { Leniency } from './leniency.ts'
import { RenderBudget } from './render-budget.ts'
import { type RenderFacts, renderKustomization } from './render-kustomization.ts'

/** What a rendering gave, as far as it could be done. */
export interface RenderResult {
  readonly objects: readonly KubeObject[]
  /** What was taken out; with any, nothing of this may be applied. */
  readonly holes: readonly Hole[]
  /** Why nothing is applied: what the rendering throws that takes nothing out. */
  readonly error?: BailiwickError
}

interface LenientFacts extends RenderFacts {
  /** What the second rendering may use up, so that nothing else has to do without. */
  readonly holeBudget?: RenderBudget
}

/**
 * Renders as `render` does. Where that throws what parts are to blame for, renders again without these: each is a hole,
 * and what is left is for findings only. Throws what no smaller cause explains, and what uses up a limit.
 */
export function renderWithHoles(
  artifact: Artifact,
  kustomization: KubeObject,
  { budget = new RenderBudget(), holeBudget = new RenderBudget(), ...facts }: LenientFacts = {},
  render: Render = renderKustomization,
): RenderResult {
  try {
    return { objects: render(artifact, kustomization, { ...facts, budget }), holes: [] }
  } catch (error) {
    if (!(error instanceof BailiwickError) || !isOfPart(error)) throw error
    const leniency = new Leniency()
    const lenient = { ...facts, budget: holeBudget, tolerance: leniency }
    const objects = attempt(() => renderKustomization(artifact, kustomization, lenient), error)
    leniency.cover(error, () => JSON.stringify([artifact.tree.id, artifact.ignore, canonical(kustomization.root)]))
    return { objects, holes: leniency.holes(), error }
  }
}

/** Renders, or throws. */
type Render = (
  artifact: Artifact,
  kustomization: KubeObject,
  facts: RenderFacts & { readonly budget: RenderBudget },
) => readonly KubeObject[]

/** The error of the strict rendering says best what is wrong with the whole. */
function attempt<T>(step: () => T, error: BailiwickError): T {
  try {
    return step()
  } catch (second) {
    throw second instanceof BailiwickError ? error : second
  }
}
