import { WIDGET } from './widget.ts'

export const change = (from: string, to: string): string => {
  if (!WIDGET.includes(from)) throw new Error(`no ${from} in it`)
  return WIDGET.replace(from, to)
}

const format = (name: string, value: string) => change('size: 3', `size: 3\n  formats: {${name}: ${value}}`)

/** What a real API server says of each is asked in api-server.test.ts. */
export const REFUSED: readonly (readonly [what: string, text: string, problems: readonly string[]])[] = [
  ['an unknown field', change('size: 3', 'size: 3\n  sise: 4'), ['unknown-field spec.sise']],
  ['an unknown field at the top', `${WIDGET}specs: {}\n`, ['unknown-field specs']],
  ['a missing field without a default', change('size: 3', 'mode: fast'), ['missing-field spec.size']],
  ['null where no default stands', change('at: 2026-01-31T12:00:00Z', 'at: null'), ['wrong-type spec.at']],
  ['a text for a number', change('size: 3', 'size: "3"'), ['wrong-type spec.size']],
  ['a number out of its bounds', change('size: 3', 'size: 11'), ['bad-format spec.size']],
  ['another word', change('size: 3', 'size: 3\n  mode: quick'), ['not-allowed spec.mode']],
  ['a text that does not match', change('ab-c', 'AB'), ['bad-format spec.name']],
  ['a text that is too long', change('ab-c', 'abcdefghi'), ['bad-format spec.name']],
  ['a truth value for a port', change('port: 80', 'port: true'), ['wrong-type spec.port']],
  ['no time', change('2026-01-31T12:00:00Z', 'tomorrow'), ['bad-format spec.at']],
  ['a value twice', change('tags: [a, b]', 'tags: [a, a]'), ['duplicate spec.tags.1']],
  ['too many items', change('tags: [a, b]', 'tags: [a, b, c, d]'), ['bad-format spec.tags']],
  ['keys that are alike by a default', change('zone: b', 'zone: a'), ['duplicate spec.parts.1']],
  [
    'a number as value of a map',
    change('labels: {a: b}\n  open', 'labels: {a: 1}\n  open'),
    ['wrong-type spec.labels.a'],
  ],
  ['a known field of an open map', change('open: {a: b, c: 1}', 'open: {a: 1}'), ['wrong-type spec.open.a']],
  ['an embedded object without a kind', change('kind: Pod, ', ''), ['missing-field spec.template.kind']],
  ['two of the alternatives', change('source: {git: x}', 'source: {git: x, oci: y}'), ['no-match spec.source']],
  ['none of the alternatives', change('source: {git: x}', 'source: {}'), ['no-match spec.source']],
  ['a number as label', change('labels: {a: b}}', 'labels: {a: 1}}'), ['dropped-labels metadata.labels.a']],
  ['an unknown field of metadata', change('name: w,', 'name: w, label: {},'), ['unknown-field metadata.label']],
  ...(
    [
      ['byte', 'a'],
      ['byte', '""'],
      ['byte', '_-=='],
      ['ipv4', '1.2.3'],
      ['ipv4', '"::1"'],
      ['ipv6', '1.2.3.4'],
      ['ipv6', '"1::2::3"'],
      ['cidr', '10.0.0.0'],
      ['cidr', '10.0.0.0/33'],
      ['uuid4', '0d2f2f6e-1c2b-3a7d-9d3e-5a6b7c8d9e0f'],
      ['host', 'a_b'],
      ['host', 'a..b'],
      ['host', `"${'a'.repeat(64)}.example.com"`],
      ['uri', 'a b'],
      ['uri', '""'],
      ['color', '"#12"'],
    ] as const
  ).map(([name, value]) => [`${value} as ${name}`, format(name, value), [`bad-format spec.formats.${name}`]] as const),
  ...(
    [
      ['either', 'x'],
      ['one', 'x'],
      ['none', '"::1"'],
    ] as const
  ).map(([name, value]) => [`${value} as ${name}`, format(name, value), [`no-match spec.formats.${name}`]] as const),
  ['a host that is too long', format('all', 'abc.example'), ['bad-format spec.formats.all']],
  ['no spec', 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n', ['missing-field spec']],
]

/** The same for what it accepts. */
export const ACCEPTED: readonly (readonly [what: string, text: string])[] = [
  ['a valid object', WIDGET],
  ['a text for a port', change('port: 80', 'port: http')],
  ['null where a default stands', change('size: 3', 'size: 3\n  mode: null')],
  ['settings with the defaults of their own', change('size: 3', 'size: 3\n  settings: {}')],
  ['the other alternative', change('source: {git: x}', 'source: {oci: x}')],
  ...(
    [
      ['byte', 'aGk='],
      ['ipv4', '010.1.2.3'],
      ['ipv4', '"::ffff:1.2.3.4"'],
      ['ipv6', '"fe80::1"'],
      ['cidr', '"fd00::/8"'],
      ['uuid4', '0D2F2F6E1C2B4A7D9D3E5A6B7C8D9E0F'],
      ['host', 'a-b.example.com'],
      ['host', 'localhost'],
      ['uri', '/a'],
      ['uri', '"https://example.com/a?b"'],
      ['color', 'ABC'],
      ['either', '"::1"'],
      ['either', '1.2.3.4'],
      ['one', '10.0.0.0/8'],
      ['none', '1.2.3.4'],
      ['all', 'a.bc'],
    ] as const
  ).map(([name, value]) => [`${value} as ${name}`, format(name, value)] as const),
  ['any status: controllers write it', `${WIDGET}status: {ready: true}\n`],
]
