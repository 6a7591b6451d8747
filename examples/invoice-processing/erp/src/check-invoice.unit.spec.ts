import { describe, expect, it } from 'vitest';
import { checkInvoice } from './check-invoice.mjs';

const order = { supplier: 'HELIOS', currency: 'EUR', tax_percent: 19, net_cents: 57600 };
const vendor = { iban: 'DE02500105170137075030' };
const invoice = {
  supplier: 'HELIOS',
  currency: 'EUR',
  lines: [
    { quantity: 12, unit_cents: 3900, net_cents: 46800 },
    { quantity: 24, unit_cents: 450, net_cents: 10800 },
  ],
  net_cents: 57600,
  tax_percent: 19,
  tax_cents: 10944,
  total_cents: 68544,
  iban: 'DE02500105170137075030',
};

describe('checkInvoice', () => {
  it('accepts an invoice that agrees with its order and supplier', () => {
    expect(checkInvoice(invoice, order, vendor)).toEqual({ verdict: 'ok', reasons: [] });
  });

  it('rounds tax to whole cents', () => {
    const lines = [{ quantity: 48, unit_cents: 215, net_cents: 10320 }];
    const reduced = { ...invoice, lines, net_cents: 10320, tax_percent: 7, tax_cents: 722, total_cents: 11042 };
    expect(checkInvoice(reduced, { ...order, tax_percent: 7 }, vendor).verdict).toBe('ok');
  });

  it.each([
    ['a missing order', invoice, undefined, vendor, ['unknown-purchase-order']],
    ['a missing supplier', invoice, order, undefined, ['unknown-supplier']],
    ['the order of another supplier', invoice, { ...order, supplier: 'ORCHARD' }, vendor, ['other-supplier']],
    ['another currency', { ...invoice, currency: 'USD' }, order, vendor, ['currency']],
    ['a wrong sum', { ...invoice, net_cents: 57601, total_cents: 68545 }, order, vendor, ['wrong-sum', 'over-order']],
    ['a wrong tax', { ...invoice, tax_cents: 12096, total_cents: 69696 }, order, vendor, ['wrong-tax']],
    ['another tax rate than ordered', invoice, { ...order, tax_percent: 7 }, vendor, ['wrong-tax']],
    ['a wrong total', { ...invoice, total_cents: 1 }, order, vendor, ['wrong-total']],
    ['more than was ordered', invoice, { ...order, net_cents: 57599 }, vendor, ['over-order']],
    ['another bank account', { ...invoice, iban: 'GB33BUKB20201555555555' }, order, vendor, ['bank-account']],
  ])('names %s', (_, given, purchaseOrder, supplier, reasons) => {
    expect(checkInvoice(given, purchaseOrder, supplier)).toEqual({ verdict: 'reject', reasons });
  });
});
