import { BailiwickError } from '../../../errors.ts'
import type { Tree } from '../../../git/tree.ts'
import { at, canonical, itemsOf, type Node } from '../../../kube/node.ts'
import { parseDocuments } from '../../../kube/yaml/parse-documents.ts'
import { containsPattern } from '../../../kustomize/select/pattern.ts'
import { type Recipients, wantedRecipients } from './sops-recipients.ts'

/** Where SOPS reads how to encrypt. */
export const SOPS_CONFIG = '.sops.yaml'

/** One rule of a `.sops.yaml`. */
export interface CreationRule {
  readonly pattern: { readonly text: string; readonly origin: Node['origin'] } | undefined
  readonly recipients: Recipients
  /** All that it says, without order of keys, comments or places. */
  readonly text: string
  readonly node: Node
}

/** The rules of a `.sops.yaml`, in their order; undefined where there is none, or it is unreadable. */
export function creationRules(tree: Tree, path: string): readonly CreationRule[] | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  try {
    const [root] = parseDocuments({ repository: '', path }, tree.read(path))
    return itemsOf(at(root, ['creation_rules'])).map(node => {
      const pattern = at(node, ['path_regex'])
      return {
        pattern:
          pattern?.type === 'scalar' && pattern.value
            ? { text: String(pattern.value), origin: pattern.origin }
            : undefined,
        recipients: wantedRecipients(node),
        text: canonical(node),
        node,
      }
    })
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

/** The `.sops.yaml` files of a repository, by path; the nearest one above a file counts for it. */
export class SopsConfigs {
  readonly #tree: Tree
  readonly #rules = new Map<string, readonly CreationRule[] | undefined>()
  readonly #steps = new PatternSteps()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  at(path: string): readonly CreationRule[] | undefined {
    if (!this.#rules.has(path)) this.#rules.set(path, creationRules(this.#tree, path))
    return this.#rules.get(path)
  }

  /**
   * The first rule that fits a file; undefined where nothing says who should be able to read it. Throws `render-limits` for
   * patterns that take too long.
   */
  ruleFor(file: string): CreationRule | undefined {
    const parts = file.split('/').slice(0, -1)
    for (let depth = parts.length; depth >= 0; depth--) {
      const directory = parts
        .slice(0, depth)
        .map(part => `${part}/`)
        .join('')
      const rules = this.at(`${directory}${SOPS_CONFIG}`)
      if (rules) return rules.find(rule => fits(rule, file.slice(directory.length), this.#steps))
    }
    return undefined
  }
}

function fits({ pattern }: CreationRule, path: string, steps: PatternSteps): boolean {
  if (!pattern) return true
  try {
    return containsPattern(pattern, path, steps)
  } catch (error) {
    if (error instanceof BailiwickError && error.code !== 'render-limits') return false
    throw error
  }
}

/** What all files of a repository and all patterns together may take. */
class PatternSteps {
  #left = 10_000_000

  spend(_what: 'steps', amount: number): void {
    this.#left -= amount
    if (this.#left < 0) throw new BailiwickError('render-limits', 'a path_regex of .sops.yaml takes too long')
  }
}
