import { changeRuleset, createRuleset, deleteRuleset, type RulesetWish } from '../actions/ruleset.ts'
import type { Repository, Ruleset, User, World } from '../world.ts'
import type { Directory } from './directory.ts'

type RulesetOptions = Partial<RulesetWish> & { readonly as?: string }

/** Which rulesets there are, as administrators set them. */
export function onSettings(world: World, { userNamed, repositoryNamed }: Directory) {
  /**
   * Sets a ruleset of a repository: active, for the default branch, and called 'main' unless `options` say otherwise.
   * One of that name is changed.
   */
  const setRuleset = (repo: string, options: RulesetOptions): Ruleset => set(repositoryNamed(repo), options)

  /** The same for an organisation: all its repositories unless `options.conditions` say otherwise. */
  const setOrganizationRuleset = (login: string, options: RulesetOptions): Ruleset => set(userNamed(login), options)

  function removeRuleset(ruleset: Ruleset, { as }: { as?: string } = {}): void {
    deleteRuleset(world, ruleset, as === undefined ? ownerOf(ruleset.source) : userNamed(as))
  }

  function set(source: Repository | User, { as, ...wish }: RulesetOptions): Ruleset {
    const by = as === undefined ? ownerOf(source) : userNamed(as)
    const name = wish.name ?? 'main'
    const known = [...world.rulesets.values()].find(each => each.source === source && each.name === name)
    if (known) {
      changeRuleset(world, known, wish, by)
      return known
    }
    const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } }
    const usual = { target: 'branch', enforcement: 'active', bypassActors: [], conditions, rules: [] } as const
    return createRuleset(world, source, { ...usual, ...wish, name }, by)
  }

  return { setRuleset, setOrganizationRuleset, removeRuleset }
}

const ownerOf = (source: Repository | User): User => ('store' in source ? source.owner : source)
