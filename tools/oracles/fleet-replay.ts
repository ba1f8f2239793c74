import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import { type FleetInput, retainOf } from '../../src/fleet/model/input.ts'
import { refKey } from '../../src/fleet/model/source-ref.ts'
import { openCommit } from '../../src/git/commits.ts'
import { askGit } from '../../src/git/run-git.ts'
import type { Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import { baselineOf } from '../../src/rules/model/baseline.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import { withEarlier } from '../../src/surface/cli/evaluate-copy.ts'
import { type RepositoryAddress, withSyncedAddress } from '../../src/surface/cli/working-copy.ts'
import {
  type BuiltFleet,
  buildCompleteFleet,
  directoryReader,
  type FromClones,
  type GivenTree,
  oneAfterTheOther,
  ownReader,
} from '../../src/surface/cli/working-sources.ts'
import { type Edits, editedTree } from '../../src/tenants/offboard/edited-tree.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import type { Evaluated } from './fleet-table.ts'

/** The present state of a repository, to be changed. */
export interface OpenFleet {
  readonly fleet: Fleet
  /** The fleet's own, and those of tenants that are read. */
  readonly repositories: readonly OpenRepository[]
}

export interface OpenRepository extends GivenTree {
  readonly change: (edits: Edits) => Promise<Evaluation & { readonly fleet: Fleet }>
}

/** The states and changes of one repository, evaluated as `bailiwick check` does, with what they share rendered once. */
export class FleetReplay {
  readonly #dir: string
  readonly #stated: RepositoryAddress
  readonly #clones: readonly FromClones[]
  readonly #read = directoryReader()
  #session = new FleetSession()
  #trees = new Map<string, Promise<Tree>>()

  /** `clones`: where the other repositories of the fleet are, as far as they are here. */
  constructor(dir: string, url: string, branch: string, clones: readonly FromClones[] = []) {
    this.#dir = dir
    this.#clones = clones
    this.#stated = { url: url === '' ? '' : normaliseUrl(url), branch, because: '' }
  }

  /** A state by itself: everything in it counts. */
  async evaluate(ref: string): Promise<Evaluation> {
    const tree = await this.#tree(ref)
    const url = this.#address(tree)
    const fleet = await this.#fleet(tree, url)
    return evaluateFleet(fleet, { baseline: baselineOf(tree, url), revisionSet: '' })
  }

  /** A commit as a pull request onto its first parent. */
  async change(commit: string): Promise<Evaluated> {
    const subject = (await askGit(this.#dir, ['log', '-1', '--format=%s', commit]))?.toString().trim() ?? ''
    const started = performance.now()
    const [before, after] = [await this.#tree(`${commit}^1`), await this.#tree(commit)]
    const url = this.#address(before)
    const base = await this.#fleet(before, url)
    const fleet = await this.#fleet(after, url, { config: before, retain: retainOf(base) })
    const evaluation = evaluateFleet(fleet, { base, revisionSet: '' })
    const seconds = (performance.now() - started) / 1000
    return { commit, subject, seconds, ...evaluation }
  }

  /** The state of HEAD, with what earlier commits built of it, and what becomes of edits of it as a pull request. */
  async open(): Promise<OpenFleet> {
    const commit = (await askGit(this.#dir, ['rev-parse', 'HEAD']))?.toString().trim() ?? ''
    const tree = await this.#tree(commit)
    const url = this.#address(tree)
    const build = (compared?: Pick<FleetInput, 'config' | 'retain'>) => this.#built(tree, url, compared)
    const { fleet, input } = await withEarlier(await build(), { dir: this.#dir, commit }, this.#session, build)
    const compared = { config: tree, retain: retainOf(fleet) }
    const change = async (one: GivenTree, edits: Edits) => {
      const edited = { ...one, tree: editedTree(one.tree, edits) }
      const [home, given] = one === own ? [edited.tree, []] : [tree, [edited]]
      const { fleet: after } = await this.#built(home, url, compared, given)
      return { fleet: after, ...evaluateFleet(after, { base: fleet, revisionSet: '' }) }
    }
    const own = { url, branch: input.fleet.branch, tree }
    const all = [own, ...tenantTrees(fleet, input)]
    return { fleet, repositories: all.map(one => ({ ...one, change: edits => change(one, edits) })) }
  }

  async #fleet(tree: Tree, url: string, compared?: Pick<FleetInput, 'config' | 'retain'>): Promise<Fleet> {
    return (await this.#built(tree, url, compared)).fleet
  }

  #built(
    tree: Tree,
    url: string,
    compared: Pick<FleetInput, 'config' | 'retain'> = {},
    given: readonly GivenTree[] = [],
  ): Promise<BuiltFleet> {
    const alias = this.#stated.url === url || this.#stated.url === '' ? {} : { alias: this.#stated.url }
    const home = { url, branch: this.#stated.branch, commit: '', tree, ...alias }
    const own = ownReader(this.#dir, url, this.#read)
    const others = oneAfterTheOther([...this.#clones, own])
    return buildCompleteFleet(home, given, [], this.#read, compared, this.#session, others)
  }

  /** What a base says of its address, as on the command line: a repository had other names before. */
  #address(tree: Tree): string {
    return withSyncedAddress(this.#stated, tree).url
  }

  #tree(ref: string): Promise<Tree> {
    const known = this.#trees.get(ref)
    if (known) return known
    if (this.#trees.size > 8) this.#trees = new Map()
    const read = openCommit(this.#dir, ref)
    this.#trees.set(ref, read)
    return read
  }
}

/** The branches that tenants deploy from, as they were read; of a tag or a commit nothing becomes another one. */
function tenantTrees({ nodes }: Fleet, { sources }: FleetInput): GivenTree[] {
  return sources.flatMap(({ url, ref, tree }) => {
    const isTenants = nodes.some(
      ({ tenant, source }) => tenant !== undefined && source.url === url && refKey(source.ref) === refKey(ref),
    )
    return isTenants && ref.branch !== undefined ? [{ url, branch: ref.branch, tree }] : []
  })
}
