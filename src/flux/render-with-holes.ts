import { createHash } from 'node:crypto'
import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import { canonical } from '../kube/node.ts'
import type { Hole, KubeObject } from '../kube/object.ts'
import type { Level, Part, Tolerance } from '../kustomize/entry.ts'
import type { Artifact } from './artifact.ts'
import { RenderBudget, type RenderFacts, renderKustomization } from './render-kustomization.ts'

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

/** Parts that one build may do without. */
export const MAX_HOLES = 100

/** A hole while the build goes on: `around` are the levels that would change what it hides, each way up as one list. */
interface Found extends Hole {
  readonly around: (readonly Level[])[]
  readonly spreads: boolean
}

/** Takes out what fails, and notes it. */
export class Leniency implements Tolerance {
  readonly isLenient = true
  readonly enough = MAX_HOLES + 1
  private readonly found = new Map<string, Found>()
  private levels: readonly Level[] = []

  /** What was taken out, once the build is done. Throws `render-limits` where there is too much to look at. */
  holes(): readonly Hole[] {
    return [...this.found.values()].map(({ around, spreads, ...hole }) => {
      const text = spreads ? everything(around) : changes(around)
      return text === '' ? hole : { ...hole, hides: sha256(JSON.stringify([hole.hides, text])) }
    })
  }

  within<T>(level: Level, step: () => T): T {
    const before = this.levels
    this.levels = [...before, level]
    try {
      return step()
    } finally {
      this.levels = before
    }
  }

  takesOut(error: unknown): error is BailiwickError {
    return error instanceof BailiwickError && isOfPart(error)
  }

  failureOf(step: () => void): BailiwickError | undefined {
    try {
      step()
      return undefined
    } catch (error) {
      if (this.takesOut(error)) return error
      throw error
    }
  }

  attempt<T>(part: Part, step: () => T): T | undefined {
    const before = this.found.size
    const undo = part.changes?.save()
    try {
      return step()
    } catch (error) {
      if (!this.takesOut(error)) throw error
      undo?.()
      // what failed within it is not a part of the build any more
      for (const key of [...this.found.keys()].slice(before)) this.found.delete(key)
      this.add(error, part)
      return undefined
    }
  }

  /** Notes an error of the strict build that no hole stands for. */
  cover(error: BailiwickError, hides: () => string): void {
    const isKnown = this.all.some(hole => nameOf(hole.error) === nameOf(error))
    if (!isKnown) this.add(error, { effect: 'different', hides })
  }

  /** The first address, where all that is missing although Flux has it is remote: what depends on it is there. */
  private onlyRemote(): string | undefined {
    const missing = this.all.filter(hole => !hole.fatal)
    return missing.every(hole => hole.remote !== undefined) ? missing[0]?.remote : undefined
  }

  private get all(): readonly Found[] {
    return [...this.found.values()]
  }

  private add(error: BailiwickError, { effect, hides, depends, brings, spreads }: Part): void {
    // where something is missing that Flux has, it may well find what this part needs
    const needs = depends && error.code === 'kustomize-invalid'
    const mayFit = needs && this.all.some(hole => !hole.fatal)
    const follows = needs && this.all.some(hole => hole.effect === 'missing' || hole.error.code !== 'kustomize-invalid')
    const fatal = isFatal(error) && !mayFit
    const digest = sha256(hides())
    const address = error.remote ?? (mayFit ? this.onlyRemote() : undefined)
    const remote = address === undefined ? {} : { remote: address }
    const key = JSON.stringify([nameOf(error), effect, digest])
    const hole = { error, fatal, effect, hides: digest, ...remote, ...(follows ? { follows } : {}) }
    const known: Found = this.found.get(key) ?? { ...hole, around: [], spreads: spreads === true }
    // nothing of what Flux refuses is applied, however it is changed
    if ((brings || spreads) && !fatal) known.around.push(this.levels)
    this.found.set(key, known)
    if (this.found.size <= MAX_HOLES) return
    const { origin } = error
    throw new BailiwickError('render-limits', `more than ${MAX_HOLES} parts of the build have errors`, { origin })
  }
}

/** What all levels on all ways up do to it. */
function changes(around: readonly (readonly Level[])[]): string {
  const ways = around.map(levels => levels.map(level => level.changes()).filter(text => text !== ''))
  const texts = [...new Set(ways.filter(way => way.length > 0).map(way => JSON.stringify(way)))].sort()
  return texts.length === 0 ? '' : JSON.stringify(texts)
}

function everything(around: readonly (readonly Level[])[]): string {
  const roots = new Set(around.flatMap(([root]) => root ?? []))
  return JSON.stringify([...roots].map(root => root.everything()))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function nameOf({ code, message, origin }: BailiwickError): string {
  return JSON.stringify([code, message, origin?.file, origin?.line])
}

/**
 * What an error of a part means for the whole: `refused` where kustomize or Flux refuses the build for it, `built` where
 * only this engine cannot do it. An error that is not here is one of the build as a whole.
 */
const OF_PARTS: { readonly [code in ErrorCode]?: 'refused' | 'built' } = {
  'yaml-syntax': 'refused',
  'yaml-ambiguous': 'built',
  'yaml-encoding': 'built',
  'invalid-object': 'refused',
  'kustomize-missing': 'refused',
  'kustomize-invalid': 'refused',
  'kustomize-multiple-files': 'refused',
  'kustomize-unsupported': 'built',
  'flux-invalid': 'refused',
  'flux-unsupported': 'built',
  'flux-missing-variable': 'refused',
  'unrendered-variable': 'built',
}

/** Rules whose errors mean something else than their code does. */
const OF_RULES = new Map<string, 'refused' | 'built'>([
  ['kustomize-helm-inflate', 'refused'],
  ['kustomize-plugin', 'refused'],
  ['kustomize-symlink', 'refused'],
  ['source-submodules', 'refused'],
])

/** Errors of the build as a whole for which Flux refuses it, too. */
const REFUSED_AS_WHOLE: ReadonlySet<ErrorCode> = new Set(['path-not-found'])

/** Whether an error is one of a part, which a build may do without. */
function isOfPart({ code, refused }: BailiwickError): boolean {
  return refused !== undefined || Object.hasOwn(OF_PARTS, code)
}

/** Whether kustomize or Flux refuses the whole build for it. */
export function isFatal({ code, rule, refused }: BailiwickError): boolean {
  if (refused !== undefined) return refused
  if (REFUSED_AS_WHOLE.has(code)) return true
  return ((rule === undefined ? undefined : OF_RULES.get(rule)) ?? OF_PARTS[code]) === 'refused'
}
