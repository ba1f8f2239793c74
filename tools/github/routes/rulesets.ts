import { activeRulesets, binds, demandsOn, rulesetsOf } from '../actions/demands.ts'
import { changeRuleset, createRuleset, deleteRuleset, type RulesetWish } from '../actions/ruleset.ts'
import { object, objects, requiredText, text } from '../http/body.ts'
import { notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import {
  created,
  noContent,
  type OrganizationCall,
  ok,
  onOrganization,
  onRepository,
  type RepositoryCall,
  type Route,
} from '../http/route.ts'
import { ruleJson, rulesetBriefJson, rulesetJson } from '../json/ruleset.ts'
import { type BypassActor, type Rule, type Ruleset, type RulesetConditions, senderOf } from '../world.ts'
import { isAtLeast } from './issues.ts'

const ONE = '/rulesets/{ruleset_id}'

/** rulesets of repositories and organisations, and the rules that hold for a branch. */
export function rulesetRoutes(): Route[] {
  return [
    onRepository('GET', '/rules/branches/{branch}', 'metadata:read', 'read', call => {
      const rules = activeRulesets(call.world, call.repo, call.params.branch ?? '').flatMap(ruleset =>
        ruleset.rules.map(rule => ruleJson(ruleset, rule)),
      )
      return list(call, rules, rule => rule)
    }),
    onRepository('GET', '/rulesets', 'metadata:read', 'read', call =>
      list(call, shown(call), ruleset => rulesetBriefJson(call.world, ruleset)),
    ),
    onRepository('POST', '/rulesets', 'administration:write', 'admin', call => {
      const wish = { ...DEFAULTS, ...wishOf(call.body), name: requiredText(call.body, 'name') }
      return created(present(call, createRuleset(call.world, call.repo, wish, senderOf(call.actor))))
    }),
    onRepository('GET', ONE, 'metadata:read', 'read', call => ok(present(call, named(call, shown(call))))),
    onRepository('PUT', ONE, 'administration:write', 'admin', call => {
      const ruleset = named(call, own(call))
      changeRuleset(call.world, ruleset, wishOf(call.body), senderOf(call.actor))
      return ok(present(call, ruleset))
    }),
    onRepository('DELETE', ONE, 'administration:write', 'admin', call => {
      deleteRuleset(call.world, named(call, own(call)), senderOf(call.actor))
      return noContent()
    }),
    onOrganization('GET', '/rulesets', 'organization_administration:write', call =>
      list(call, ofOrganization(call), ruleset => rulesetBriefJson(call.world, ruleset)),
    ),
  ]
}

const DEFAULTS = { target: 'branch', enforcement: 'disabled', bypassActors: [], conditions: {}, rules: [] } as const

function wishOf(body: Readonly<Record<string, unknown>>): Partial<RulesetWish> {
  const [name, target, enforcement] = [text(body, 'name'), text(body, 'target'), text(body, 'enforcement')]
  return {
    ...(name === undefined ? {} : { name }),
    ...(target === undefined ? {} : { target: target as Ruleset['target'] }),
    ...(enforcement === undefined ? {} : { enforcement: enforcement as Ruleset['enforcement'] }),
    ...(body.bypass_actors ? { bypassActors: objects(body, 'bypass_actors') as unknown as BypassActor[] } : {}),
    ...(body.conditions ? { conditions: (object(body, 'conditions') ?? {}) as RulesetConditions } : {}),
    ...(body.rules ? { rules: objects(body, 'rules') as unknown as Rule[] } : {}),
  }
}

/** Those of the organisation too, unless the caller asks for the repository's own. */
function shown(call: RepositoryCall): Ruleset[] {
  if (call.query.get('includes_parents') === 'false') return own(call)
  const targets = call.query.get('targets')?.split(',')
  return rulesetsOf(call.world, call.repo).filter(ruleset => !targets || targets.includes(ruleset.target))
}

const own = (call: RepositoryCall) => rulesetsOf(call.world, call.repo).filter(each => each.source === call.repo)

const ofOrganization = (call: OrganizationCall) =>
  [...call.world.rulesets.values()].filter(ruleset => ruleset.source === call.organization)

function named(call: RepositoryCall, among: readonly Ruleset[]): Ruleset {
  const found = among.find(ruleset => String(ruleset.id) === call.params.ruleset_id)
  if (!found) throw notFound()
  return found
}

function present(call: RepositoryCall, ruleset: Ruleset) {
  const { actor } = call
  const mayChange =
    actor.kind === 'installation'
      ? actor.permissions.administration === 'write'
      : actor.kind === 'user' && isAtLeast(call, 'admin')
  const demand = demandsOn(call.world, call.repo, call.repo.defaultBranch).find(each => each.ruleset === ruleset)
  const free = demand !== undefined && !binds(call.world, call.repo, demand, actor, false)
  return { ...rulesetJson(call.world, ruleset, mayChange), current_user_can_bypass: free ? 'always' : 'never' }
}
