import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { creationRuleFor } from './creation-rule.ts'
import type { SealingRule } from './sealing-rule.ts'
import { addTenantRule, type TenantRuleEdit } from './tenant-rule.ts'

/** By which rule a file of a tenant is sealed, and the `.sops.yaml` that has this rule. */
interface TenantSealing {
  readonly sopsConfig?: TenantRuleEdit
  readonly rule: SealingRule
  /** Why the tenant has no rule of its own, in plain text. */
  readonly note?: string
}

/**
 * The rule by which a file of a tenant is sealed, and a `.sops.yaml` with an own rule of the tenant for the same recipients, unless there
 * is one. Throws `sops-config` where no rule matches. `config`: the `.sops.yaml` as another file of this tenant has changed it.
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
