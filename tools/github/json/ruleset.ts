import { fullName, type Rule, type Ruleset, type World } from '../world.ts'
import { nodeId } from './node-id.ts'

/** Where a ruleset comes from, as `rules/branches` and the rulesets themselves say it. */
function sourceOf({ source }: Ruleset) {
  return 'store' in source
    ? { source_type: 'Repository', source: fullName(source) }
    : { source_type: 'Organization', source: source.login }
}

/** What lists hold of a ruleset: nothing of its rules. */
export function rulesetBriefJson(world: World, ruleset: Ruleset) {
  const { source_type, source } = sourceOf(ruleset)
  const isRepository = source_type === 'Repository'
  const self = `${world.url}/${isRepository ? 'repos' : 'orgs'}/${source}/rulesets/${ruleset.id}`
  const page = isRepository ? `${source}/rules` : `organizations/${source}/settings/rules`
  return {
    ...{ id: ruleset.id, name: ruleset.name, target: ruleset.target, source_type, source },
    ...{ enforcement: ruleset.enforcement, node_id: nodeId('RRS', ruleset.id) },
    _links: { self: { href: self }, html: { href: `https://github.com/${page}/${ruleset.id}` } },
    ...{ created_at: ruleset.createdAt, updated_at: ruleset.updatedAt },
  }
}

/** OpenAPI `repository-ruleset`. Who may pass it is told to those only who may change it. */
export function rulesetJson(world: World, ruleset: Ruleset, mayChange = true) {
  const { conditions, rules, bypassActors } = ruleset
  const bypass_actors = bypassActors.map(each => ({ actor_id: null, bypass_mode: 'always', ...each }))
  return { ...rulesetBriefJson(world, ruleset), conditions, rules, ...(mayChange ? { bypass_actors } : {}) }
}

/** OpenAPI `repository-rule-detailed`. */
export function ruleJson(ruleset: Ruleset, rule: Rule) {
  const { source_type, source } = sourceOf(ruleset)
  return { ...rule, ruleset_source_type: source_type, ruleset_source: source, ruleset_id: ruleset.id }
}
