import type { Origin } from '../../origin.ts'
import { readConfiguration } from '../fields/configurations.ts'
import type { Kustomization } from '../fields/kustomization.ts'
import { mergeConfig, SORTED_DEFAULTS, sorted } from '../fields/merge-config.ts'
import type { TransformerConfig } from '../fields/transformer-config.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Part, Tolerance } from '../model/tolerance.ts'
import type { BuildFiles } from './build-files.ts'

/** How the fields that transformers write to come together in one build. */
export class Configuration {
  private readonly files: BuildFiles
  private readonly budget: BuildBudget
  private readonly tolerance: Tolerance

  constructor(files: BuildFiles, budget: BuildBudget, tolerance: Tolerance) {
    this.files = files
    this.budget = budget
    this.tolerance = tolerance
  }

  /** The configurations of one kustomization become one before they meet those of its bases. */
  with(before: TransformerConfig | undefined, kustomization: Kustomization): TransformerConfig {
    const { configurations, directory, file } = kustomization
    const { tolerance } = this
    const part = (entries: unknown): Part => ({
      effect: 'different',
      hides: () => this.files.hidden(directory, entries),
    })
    let added: TransformerConfig | undefined
    for (const entry of configurations) {
      const read = () => {
        const config = readConfiguration(this.files.fileBeside(directory, entry).documents)
        return this.merge(added, sorted(config), entry.origin)
      }
      added = tolerance.attempt(part(entry), read) ?? added
    }
    const origin = configurations[0]?.origin ?? this.files.start(file)
    const all = () => {
      const own = added ? this.merge(SORTED_DEFAULTS, added, origin) : SORTED_DEFAULTS
      return this.merge(before, own, origin)
    }
    return tolerance.attempt(part(configurations), all) ?? this.merge(before, SORTED_DEFAULTS, origin)
  }

  /** Throws `kustomize-invalid` where the two disagree. */
  merge(config: TransformerConfig | undefined, more: TransformerConfig, origin: Origin): TransformerConfig {
    // the defaults, which nearly everybody has, are not merged with themselves
    if ((config !== undefined && config !== SORTED_DEFAULTS) || more !== SORTED_DEFAULTS) {
      this.budget.spend('steps', 8 * ((config ? sizeOf(config) : 0) + sizeOf(more)), origin)
    }
    return mergeConfig(config, more, origin)
  }
}

/** How many field specs there are. */
function sizeOf(config: TransformerConfig): number {
  const lists = Object.values(config) as readonly (readonly unknown[])[]
  return config.nameReference.reduce((sum, rule) => sum + rule.referrers.length, 0) + lists.flat().length
}
