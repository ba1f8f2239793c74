import { invalid } from '../http/http-error.ts'
import { rulesetJson } from '../json/ruleset.ts'
import { now, type Repository, type Ruleset, type User, type World } from '../world.ts'

export type RulesetWish = Pick<Ruleset, 'name' | 'target' | 'enforcement' | 'bypassActors' | 'conditions' | 'rules'>

/** Makes a ruleset of a repository or an organisation and says so. Throws 422 for a name that is there. */
export function createRuleset(world: World, source: Repository | User, wish: RulesetWish, by: User): Ruleset {
  checkName(world, source, wish.name)
  const ruleset: Ruleset = { ...wish, id: world.nextId(), source, createdAt: now(), updatedAt: now() }
  world.rulesets.set(ruleset.id, ruleset)
  announce(world, ruleset, by, { action: 'created' })
  return ruleset
}

/** Changes a ruleset; what is not wished stays. Throws 422 for a name that another has. */
export function changeRuleset(world: World, ruleset: Ruleset, wish: Partial<RulesetWish>, by: User): void {
  const { name, enforcement, rules } = ruleset
  if (wish.name !== undefined && wish.name !== name) checkName(world, ruleset.source, wish.name)
  Object.assign(ruleset, wish, { updatedAt: now() })
  const added = ruleset.rules.filter(rule => !rules.some(old => old.type === rule.type))
  const deleted = rules.filter(old => !ruleset.rules.some(rule => rule.type === old.type))
  const changes = {
    ...(name === ruleset.name ? {} : { name: { from: name } }),
    ...(enforcement === ruleset.enforcement ? {} : { enforcement: { from: enforcement } }),
    ...(added.length + deleted.length > 0 ? { rules: { added, deleted, updated: [] } } : {}),
  }
  announce(world, ruleset, by, { action: 'edited', changes })
}

export function deleteRuleset(world: World, ruleset: Ruleset, by: User): void {
  world.rulesets.delete(ruleset.id)
  announce(world, ruleset, by, { action: 'deleted' })
}

function checkName(world: World, source: Repository | User, name: string): void {
  const taken = [...world.rulesets.values()].some(each => each.source === source && each.name === name)
  if (taken) throw invalid('RepositoryRuleset', 'name', 'Name must be unique')
}

function announce(world: World, ruleset: Ruleset, by: User, what: Readonly<Record<string, unknown>>): void {
  const payload = { ...what, repository_ruleset: rulesetJson(world, ruleset) }
  if ('store' in ruleset.source) world.emit(ruleset.source, by, 'repository_ruleset', payload)
  else world.emitForAccount(ruleset.source, by, 'repository_ruleset', payload)
}
