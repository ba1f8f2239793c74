import type { ScalarValue } from '../kube/node.ts'

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']

/**
 * A quantity in the form that Kubernetes writes: without fraction, with the largest suffix that needs none (`1000m` is
 * `1`, `0.5` is `500m`, `1024Mi` is `1Gi`). Undefined for what is left as it is: exponents, and what is no quantity.
 */
export function canonicalQuantity(value: ScalarValue): string | undefined {
  const match = /^([-+]?)([0-9]*)(?:\.([0-9]*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/.exec(String(value))
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`${whole}${fraction}` || '0')
  const minus = sign === '-' && digits !== 0n ? '-' : ''
  const binary = BINARY.indexOf(suffix)
  if (binary > 0) {
    if (fraction !== '') return undefined
    return minus + largest(digits * 1024n ** BigInt(binary), 1024n, BINARY)
  }
  const nano = digits * 1000n ** BigInt(DECIMAL.indexOf(suffix))
  const scale = 10n ** BigInt(fraction.length)
  return nano % scale === 0n ? minus + largest(nano / scale, 1000n, DECIMAL) : undefined
}

function largest(amount: bigint, base: bigint, suffixes: readonly string[]): string {
  if (amount === 0n) return '0'
  let rest = amount
  let index = 0
  while (rest % base === 0n && index < suffixes.length - 1) {
    rest /= base
    index++
  }
  return `${rest}${suffixes[index]}`
}
