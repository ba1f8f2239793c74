import type { Origin } from '../../origin.ts'
import type { Node } from '../node.ts'
import type { Expansion } from './expansion.ts'
import { refuseSyntax } from './refuse-yaml.ts'
import { refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** What a name stands for, once it is read. */
interface Anchored {
  node: Node | undefined
}

interface Extent {
  readonly values: number
  readonly height: number
}

/** The anchors of one document, and what its aliases make of them. */
export class YamlAliases {
  private readonly anchors = new Map<string, Anchored>()
  private readonly extents = new Map<Node, Extent>()
  private readonly expansion: Expansion
  private aliases = 0

  constructor(expansion: Expansion) {
    this.expansion = expansion
  }

  /** From here on the name stands for a value that is not read yet; inside of it the name may begin anew. */
  begin(anchor: string): Anchored {
    const anchored = { node: undefined }
    this.anchors.set(anchor, anchored)
    return anchored
  }

  /**
   * What the alias stands for, `depth` levels below the document. Throws `yaml-syntax` for nothing and for itself, and
   * `render-limits`.
   */
  expand(name: string, depth: number, origin: Origin): Node {
    if (++this.aliases > YAML_LIMITS.aliases) refuseOver('aliases', origin)
    const target = this.anchors.get(name)?.node
    if (!target) return refuseSyntax('an alias without an anchor of that name', origin)
    const { values, height } = this.extent(target)
    this.expansion.spend(values, origin)
    if (depth + height > YAML_LIMITS.depth) refuseOver('depth', origin)
    return target
  }

  private extent(node: Node): Extent {
    if (node.type === 'scalar') {
      const text = typeof node.value === 'string' ? node.value.length : 0
      return { values: 1 + Math.floor(text / 64), height: 0 }
    }
    const known = this.extents.get(node)
    if (known) return known
    let values = 1
    let height = 0
    const add = (child: Node): void => {
      const extent = this.extent(child)
      values += extent.values
      height = Math.max(height, extent.height + 1)
    }
    if (node.type === 'list') for (const item of node.items) add(item)
    else for (const field of node.fields.values()) add(field.value)
    const extent = { values, height }
    this.extents.set(node, extent)
    return extent
  }
}
