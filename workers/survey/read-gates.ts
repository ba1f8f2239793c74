import { BailiwickError } from '../../src/errors.ts'
import type { GatedBranch } from '../../src/fleet/model/fleet-config.ts'
import { isTenancyCheck, ownCheckName } from '../../src/gate/check-names.ts'
import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import { listNamesakes } from '../../src/github/contents/namesakes.ts'
import { readBranchProtection } from '../../src/github/protection/protection.ts'
import {
  listEvaluatedRulesets,
  type Ruleset,
  readBranchRules,
  readRuleset,
} from '../../src/github/protection/rulesets.ts'
import { evaluateGate, type OurCheck } from '../../src/protection/evaluate-gate.ts'
import { namesBranch } from '../../src/protection/names-branch.ts'
import type { ProtectionLayer } from '../../src/protection/protected-branch.ts'
import type { BranchGate } from '../../src/report/first-report/facts.ts'
import type { Installation } from '../context/installation.ts'
import type { ReadableRepository } from '../context/readable-repository.ts'
import { findRepository } from '../fleets/find-repository.ts'

/** The client and installation that read the gates. */
export interface GateDesk {
  readonly app: AppIdentity
  readonly reader: Octokit
  /** Reads rulesets and nothing else: GitHub shows who may bypass one only to who may change it. */
  readonly rulesets: Octokit
}

/** Each costs two to four requests; a fleet with more is looked at as far as this. */
const MAX_BRANCHES = 300

/** Reads and evaluates the protection of these branches on GitHub, uncached. Throws `github-unavailable`. */
export async function readGates(
  desk: GateDesk,
  installation: Installation,
  branches: readonly GatedBranch[],
): Promise<BranchGate[]> {
  const reader = new GateReader(desk, installation)
  const gates: BranchGate[] = []
  for (const [index, branch] of branches.entries()) {
    if (index < MAX_BRANCHES) gates.push(await reader.read(branch))
    else gates.push({ ...branch, gate: undefined, unread: `only ${MAX_BRANCHES} branches are checked` })
  }
  return gates
}

/** Reads each ruleset once, however many branches it is about. */
class GateReader {
  readonly #desk: GateDesk
  readonly #installation: Installation
  readonly #rulesets = new Map<string, Promise<Ruleset | undefined>>()
  readonly #evaluated = new Map<string, Promise<Ruleset[]>>()

  constructor(desk: GateDesk, installation: Installation) {
    this.#desk = desk
    this.#installation = installation
  }

  async read({ url, branch }: GatedBranch): Promise<BranchGate> {
    const repository = await findRepository(this.#installation, { url })
    const unread = (why: string) => ({ url, branch, gate: undefined, unread: why })
    if (!repository) return unread('the App is not installed on this repository')
    try {
      if ((await this.#installation.head(repository, { branch })) === undefined)
        return unread('the branch does not exist')
      const check = ownCheckName({ branch, isDefault: branch === repository.defaultBranch })
      return {
        url,
        branch,
        check,
        gate: await this.#evaluateFleet(repository, branch, { name: check, app: this.#desk.app.id }),
      }
    } catch (error) {
      if (error instanceof BailiwickError && error.code === 'not-permitted') return unread('GitHub does not show it')
      throw error
    }
  }

  async #evaluateFleet(repository: ReadableRepository, branch: string, check: OurCheck) {
    const { reader: octokit, app } = this.#desk
    const name = { owner: repository.owner, repo: repository.name }
    const protection = await readBranchProtection(octokit, name, branch)
    const layers = [...(protection.layer ? [protection.layer] : []), ...(await this.#layers(repository, branch))]
    const known = { url: repository.url, branch, layers, hidden: protection.hidden, evaluated: [], namesakes: [] }
    const first = evaluateGate(known, check)
    if (first.state === 'real' || first.state === 'weak') return first
    // it is open: what looks like a gate, and who could answer in our place
    const evaluated = (await this.#evaluatedOf(repository)).filter(
      one => one.contexts.includes(check.name) && namesBranch(one, branch, branch === repository.defaultBranch),
    )
    const namesakes = await listNamesakes(octokit, app, name, { branch, name: check.name })
    return evaluateGate({ ...known, evaluated: evaluated.map(one => one.name), namesakes }, check)
  }

  async #layers(repository: ReadableRepository, branch: string): Promise<ProtectionLayer[]> {
    const rules = await readBranchRules(this.#desk.reader, nameOf(repository), branch)
    const layers: ProtectionLayer[] = []
    for (const { ruleset: id, ...layer } of rules) {
      const ours = layer.checks.some(check => isTenancyCheck(check.context))
      const ruleset = ours ? await this.#ruleset(repository, id) : undefined
      layers.push({ ...layer, kind: 'ruleset', name: ruleset?.name ?? `#${id}`, bypass: ruleset?.bypass })
    }
    return layers
  }

  #ruleset(repository: ReadableRepository, id: number): Promise<Ruleset | undefined> {
    // one of the organisation has the same number everywhere
    return remembered(this.#rulesets, `${repository.owner} ${id}`, () =>
      readRuleset(this.#desk.rulesets, nameOf(repository), id),
    )
  }

  #evaluatedOf(repository: ReadableRepository): Promise<Ruleset[]> {
    return remembered(this.#evaluated, repository.url, async () => {
      const numbers = await listEvaluatedRulesets(this.#desk.reader, nameOf(repository))
      const found = await Promise.all(numbers.map(id => this.#ruleset(repository, id)))
      return found.filter(one => one !== undefined)
    })
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const value = known.get(key) ?? ask()
  known.set(key, value)
  return value
}

const nameOf = ({ owner, name }: ReadableRepository) => ({ owner, repo: name })
