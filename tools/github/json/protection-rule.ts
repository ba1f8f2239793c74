import type { Protection, Repository } from '../world.ts'

/** The `rule` of the event `branch_protection_rule`. */
export function protectionRuleJson(repository: Repository, branch: string, protection: Protection) {
  const { checks, reviews, strict } = protection
  const who = protection.enforceAdmins ? 'everyone' : 'non_admins'
  const level = (on: boolean) => (on ? who : 'off')
  return {
    ...{ id: protection.id, repository_id: repository.id, name: branch },
    ...{ created_at: protection.createdAt, updated_at: protection.createdAt },
    pull_request_reviews_enforcement_level: level(reviews !== undefined),
    required_approving_review_count: reviews?.approvals ?? 0,
    dismiss_stale_reviews_on_push: reviews?.dismissStale ?? false,
    require_code_owner_review: reviews?.codeOwners ?? false,
    require_last_push_approval: reviews?.lastPush ?? false,
    ...{ authorized_dismissal_actors_only: false, ignore_approvals_from_contributors: false },
    required_status_checks: checks.map(check => check.context),
    required_status_checks_enforcement_level: level(checks.length > 0),
    strict_required_status_checks_policy: strict,
    ...{ signature_requirement_enforcement_level: 'off', linear_history_requirement_enforcement_level: 'off' },
    ...{ lock_branch_enforcement_level: 'off', required_deployments_enforcement_level: 'off' },
    admin_enforced: protection.enforceAdmins,
    allow_force_pushes_enforcement_level: protection.allowForcePushes ? 'everyone' : 'off',
    allow_deletions_enforcement_level: protection.allowDeletions ? 'everyone' : 'off',
    merge_queue_enforcement_level: level(protection.mergeQueue),
    required_conversation_resolution_level: level(reviews?.resolved ?? false),
    ...{ authorized_actors_only: false, authorized_actor_names: [] },
  }
}
