import { BailiwickError } from '../../errors.ts'
import type { Entry } from '../kustomization.ts'

type Requirement = (labels: ReadonlyMap<string, string>) => boolean

/**
 * Whether labels (or annotations) match a selector such as `app=web,tier in (a, b),!canary`. Throws
 * `kustomize-unsupported` for what is no selector of that kind.
 */
export function matchesSelector(selector: Entry, labels: ReadonlyMap<string, string>): boolean {
  return requirements(selector).every(matches => matches(labels))
}

const KEY = '[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?'
const VALUE = '[-A-Za-z0-9_.]*'
const EQUAL = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`)
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`)
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`)

function requirements(selector: Entry): Requirement[] {
  if (selector.text.length > 4_096) return refuse(selector)
  return splitOutsideParentheses(selector.text).map(part => requirement(part.trim(), selector))
}

function requirement(part: string, selector: Entry): Requirement {
  const equal = EQUAL.exec(part)
  if (equal) {
    const [, key, operator, value] = equal as unknown as [string, string, string, string]
    return labels => (labels.get(key) === value) === (operator !== '!=')
  }
  const set = SET.exec(part)
  if (set) {
    const [, key, operator, list] = set as unknown as [string, string, string, string]
    const values = list.split(',').map(value => value.trim())
    if (!values.every(value => new RegExp(`^${VALUE}$`).test(value))) return refuse(selector)
    return labels => (labels.has(key) && values.includes(labels.get(key)!)) === (operator === 'in')
  }
  const exists = EXISTS.exec(part)
  if (exists && exists[2] !== 'in' && exists[2] !== 'notin')
    return labels => labels.has(exists[2]!) === (exists[1] === '')
  return refuse(selector)
}

function splitOutsideParentheses(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}

function refuse(selector: Entry): never {
  const message = `the selector ${JSON.stringify(selector.text.slice(0, 100))} is not supported`
  throw new BailiwickError('kustomize-unsupported', message, { origin: selector.origin })
}
