import { protectionRuleJson } from '../json/protection-rule.ts'
import { now, type Protection, type Repository, type User, type World } from '../world.ts'

export type Wish = Omit<Protection, 'id' | 'createdAt'>

/** Protects a branch, or changes how it is protected, and says so. */
export function protect(world: World, repository: Repository, branch: string, wish: Wish, by: User): Protection {
  const before = repository.protection.get(branch)
  const protection: Protection = { ...wish, id: before?.id ?? world.nextId(), createdAt: before?.createdAt ?? now() }
  repository.protection.set(branch, protection)
  const rule = protectionRuleJson(repository, branch, protection)
  const payload = {
    action: before ? 'edited' : 'created',
    rule,
    ...(before ? { changes: changesOf(before, wish) } : {}),
  }
  world.emit(repository, by, 'branch_protection_rule', payload)
  return protection
}

/** Takes the protection away and says so; nothing when there was none. */
export function unprotect(world: World, repository: Repository, branch: string, by: User): void {
  const before = repository.protection.get(branch)
  if (!before) return
  repository.protection.delete(branch)
  const rule = protectionRuleJson(repository, branch, before)
  world.emit(repository, by, 'branch_protection_rule', { action: 'deleted', rule })
}

function changesOf(before: Protection, after: Wish) {
  const names = (checks: Protection['checks']) => checks.map(check => check.context)
  const level = ({ checks }: Pick<Protection, 'checks'>) => (checks.length > 0 ? 'non_admins' : 'off')
  const checks = names(before.checks)
  return {
    ...(before.enforceAdmins === after.enforceAdmins ? {} : { admin_enforced: { from: before.enforceAdmins } }),
    ...(checks.join('\n') === names(after.checks).join('\n') ? {} : { required_status_checks: { from: checks } }),
    ...(level(before) === level(after) ? {} : { required_status_checks_enforcement_level: { from: level(before) } }),
  }
}
