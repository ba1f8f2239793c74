import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { creationRuleFor } from './creation-rule.ts'
import type { SealingRule } from './sealing-rule.ts'
import { addTenantRule, type TenantRuleEdit } from './tenant-rule.ts'

/** The rule that encrypts a tenant's file, and the `.sops.yaml` that contains it. */
interface TenantSealing {
  readonly sopsConfig?: TenantRuleEdit
  readonly rule: SealingRule
  /** Plain text: why the tenant has no rule of its own. */
  readonly note?: string
}

/**
 * The rule that encrypts a tenant's file, and a `.sops.yaml` with the tenant's own rule for the same recipients if it has none yet.
 * Throws `sops-config` if no rule matches. `config`: the `.sops.yaml` as already changed for another file of this tenant.
 */
export async function withTenantRule(
  tree: Tree,
  { directory, file }: { readonly directory: string; readonly file: string },
  config?: TenantRuleEdit,
): Promise<TenantSealing> {
  const rule = await creationRuleFor(tree, file)
  if (config) return { rule, sopsConfig: config }
  try {
    const edit = await addTenantRule(tree, directory, file)
    return edit ? { rule, sopsConfig: edit } : { rule }
  } catch (error) {
    if (!(error instanceof BailiwickError) || error.code !== 'sops-config') throw error
    return { rule, note: `This tenant has no creation rule of its own: ${error.message}.` }
  }
}
