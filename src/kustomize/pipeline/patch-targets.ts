import type { UnmatchedPatch } from '../../kube/object.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import type { PatchEntry, Target } from '../model/entry.ts'

/** What the targets of a build's patches selected. kustomize says nothing about one that selects nothing. */
export class PatchTargets {
  readonly #found = new Map<string, UnmatchedPatch & { matched: boolean }>()

  readonly #incomplete = new Set<string>()

  /** A file of `kustomization` has no objects: `flux bootstrap` fills in gotk-components.yaml after its patches are written. */
  noteEmptyFile({ file }: Pick<Kustomization, 'file'>): void {
    this.#incomplete.add(file)
  }

  /** A patch of `kustomization` selected `count` objects, here; a component may be used, and so patch, in several places. */
  note(
    { origin, target, step }: Pick<PatchEntry, 'origin' | 'target' | 'step'>,
    { file, kind }: Pick<Kustomization, 'file' | 'kind'>,
    count: number,
  ): void {
    const isForAny = kind === 'Component' || step.step === 'flux-patch'
    if (!target || this.#incomplete.has(file) || (isForAny && !/^[\w.-]+$/.test(target.name?.text ?? ''))) return
    const key = JSON.stringify([origin.repository, origin.file, origin.line, origin.column])
    const known = this.#found.get(key)
    if (!known) this.#found.set(key, { origin, target: textOf(target), matched: count > 0 })
    else if (count > 0) known.matched = true
  }

  /**
   * The entries whose target selected nothing in the whole build. What a component or a Flux Kustomization patches without a
   * name is for whatever there is, and may be nothing.
   */
  unmatched(): UnmatchedPatch[] {
    return [...this.#found.values()].flatMap(({ origin, target, matched }) => (matched ? [] : [{ origin, target }]))
  }
}

/** `kind: Deployment, name: web` */
function textOf(target: Target): string {
  return Object.entries(target)
    .map(([field, entry]: [string, { readonly text: string }]) => `${field}: ${entry.text}`)
    .join(', ')
}
